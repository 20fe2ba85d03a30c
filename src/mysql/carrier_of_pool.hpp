// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/pool.hpp"

#include <memory>
#include <utility>

namespace holdfast::mysql {

/// Handle with which the store keeps a connection of the pool for itself. Its destructor tells the
/// pool that the store no longer needs the connection.
class carrier_of_pool final : public carrier {
public:
    carrier_of_pool(std::shared_ptr<pool> of, seats::place what)
        : of_{std::move(of)}
        , what_{std::move(what)} {}
    carrier_of_pool(const carrier_of_pool&) = delete;
    ~carrier_of_pool() override { of_->let_go(what_); }

    const seats::place& where() const { return what_; }
    bool is_cut() const noexcept override { return what_->at->is_cut(); }
    void cut() noexcept override {
        what_->at->cut({errc::outcome_unknown, "the wait on this connection was called off"});
        if (!what_->taken)
            of_->let_go(what_);
    }

private:
    const std::shared_ptr<pool> of_;
    const seats::place what_;
};

} // namespace holdfast::mysql
