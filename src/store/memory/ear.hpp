// SPDX-License-Identifier: Apache-2.0
// How a waiter hears of a release that another client, on another thread, has made.
#pragma once

#include "store/memory/server_state.hpp"

#include <boost/asio/post.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace holdfast::memory {

/// Calls `heard` on its own executor for each release of `name`, while it lives.
class ear {
public:
    ear(std::shared_ptr<server::state> at, lock_name name, asio::any_io_executor executor,
        std::function<void()> heard)
        : at_{std::move(at)}
        , name_{std::move(name)}
        , executor_{std::move(executor)}
        , heard_{std::make_shared<std::function<void()>>(std::move(heard))} {
        at_->add(*this);
    }
    ear(const ear&) = delete;
    ~ear() { at_->remove(*this); }

    const lock_name& name() const { return name_; }

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
};

} // namespace holdfast::memory
