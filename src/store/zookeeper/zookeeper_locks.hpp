// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// Lock store in one session, for all kinds of locks that Curator has. The nodes have Curator's
/// format.
class zookeeper_locks final : public lock_store {
public:
    explicit zookeeper_locks(std::shared_ptr<household> home)
        : home_{std::move(home)} {}

    bool offers(lock_kind kind) const noexcept override;
    limits bounds() const noexcept override;
    std::optional<std::string> objection_to(const lock_name& name) const override {
        return home_->where.objection_to(name);
    }

    std::unique_ptr<place> line_up(ask want, alarm& wake) override;
    asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) override;
    asio::awaitable<release_answer> release(hold) override;
    std::unique_ptr<watch> watch_over(const hold&, doubter&) override;

private:
    const std::shared_ptr<household> home_;
};

} // namespace holdfast::zookeeper
