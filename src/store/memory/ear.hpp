// SPDX-License-Identifier: Apache-2.0
// Notification of a waiter when another client, perhaps on another thread, has released a lock.
#pragma once

#include "store/memory/link.hpp"

#include <boost/asio/post.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace holdfast::memory {

/// Subscription of a waiter (`ear`). While the object exists, it calls `heard` on its own executor
/// for each release of `name` at the primary. It also calls `heard` after it has moved to another
/// primary.
class ear {
public:
    /// `wanted` is the number of permits that the subscriber needs; 0 for locks.
    ear(std::shared_ptr<link> way, lock_name name, asio::any_io_executor executor,
        std::function<void()> heard, std::int64_t wanted = 0)
        : way_{std::move(way)}
        , at_{way_->far_end()}
        , name_{std::move(name)}
        , executor_{std::move(executor)}
        , heard_{std::make_shared<std::function<void()>>(std::move(heard))}
        , wanted_{wanted} {
        at_->add(*this);
        way_->add(*this);
    }
    ear(const ear&) = delete;
    ~ear() {
        way_->remove(*this);
        at_->remove(*this);
    }

    const lock_name& name() const { return name_; }
    std::int64_t wanted() const { return wanted_; }

    void move_to(const std::shared_ptr<server::state>& other) {
        at_->remove(*this);
        at_ = other;
        at_->add(*this);
        tell();
    }

    /// Notifies the subscriber. Thread-safe. A notification that is still on its way when this
    /// object is destroyed has no effect.
    void tell() const {
        asio::post(executor_, [weak = std::weak_ptr{heard_}] {
            if (const auto heard = weak.lock())
                (*heard)();
        });
    }

private:
    std::shared_ptr<link> way_;
    std::shared_ptr<server::state> at_;
    lock_name name_;
    asio::any_io_executor executor_;
    std::shared_ptr<std::function<void()>> heard_;
    std::int64_t wanted_;
};

} // namespace holdfast::memory
