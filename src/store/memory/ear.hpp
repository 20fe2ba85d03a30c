// SPDX-License-Identifier: Apache-2.0
// How a waiter hears of a release that another client, on another thread, has made.
#pragma once

#include "store/memory/server_state.hpp"

#include <boost/asio/post.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace holdfast::memory {

/// Calls `heard` on its own executor for each release of `name`, while it lives.
class ear {
public:
    /// `wanted`: of what is counted, so much is of use to who listens.
    ear(std::shared_ptr<server::state> at, lock_name name, asio::any_io_executor executor,
        std::function<void()> heard, std::int64_t wanted = 0)
        : at_{std::move(at)}
        , name_{std::move(name)}
        , executor_{std::move(executor)}
        , heard_{std::make_shared<std::function<void()>>(std::move(heard))}
        , wanted_{wanted} {
        at_->add(*this);
    }
    ear(const ear&) = delete;
    ~ear() { at_->remove(*this); }

    const lock_name& name() const { return name_; }
    std::int64_t wanted() const { return wanted_; }

    /// From any thread. What is on its way when the ear is gone is dropped.
    void tell() const {
        asio::post(executor_, [weak = std::weak_ptr{heard_}] {
            if (const auto heard = weak.lock())
                (*heard)();
        });
    }

private:
    std::shared_ptr<server::state> at_;
    lock_name name_;
    asio::any_io_executor executor_;
    std::shared_ptr<std::function<void()>> heard_;
    std::int64_t wanted_;
};

} // namespace holdfast::memory
