// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <optional>
#include <utility>
#include <variant>

namespace holdfast::sim {

/// Lock object of any type: mutex, fair mutex, one side of a shared mutex, …
class door {
public:
    struct making {
        /// kind of the lock; `read` and `write` are the sides of a shared lock
        lock_kind kind = lock_kind::plain;
        std::optional<lease_time> lease{};
        recursion again = recursion::refused;
        fencing tokens = fencing::counted;
        std::optional<duration> waiter_timeout{};
        std::optional<unsigned> replicas{};
    };

    door(client& home, const lock_name& name, const making& how)
        : how_{how} {
        switch (how.kind) {
        case lock_kind::fenced:
            lock_.emplace<fenced_mutex>(home, name,
                                        fenced_options{.lease = how.lease,
                                                       .again = how.again,
                                                       .numbers = how.tokens,
                                                       .required_replicas = how.replicas});
            break;
        case lock_kind::spin:
            lock_.emplace<spin_mutex>(home, name,
                                      spin_options{.lease = how.lease,
                                                   .again = how.again,
                                                   .required_replicas = how.replicas});
            break;
        case lock_kind::token:
            lock_.emplace<token_mutex>(home, name,
                                       token_options{.lease = how.lease,
                                                     .again = how.again,
                                                     .required_replicas = how.replicas});
            break;
        case lock_kind::fair:
            lock_.emplace<fair_mutex>(home, name,
                                      fair_options{.lease = how.lease,
                                                   .again = how.again,
                                                   .waiter_timeout = how.waiter_timeout,
                                                   .required_replicas = how.replicas});
            break;
        case lock_kind::read:
        case lock_kind::write:
            lock_.emplace<shared_mutex>(
                home, name, shared_options{.lease = how.lease, .required_replicas = how.replicas});
            break;
        default:
            if (how.again == recursion::counted)
                lock_.emplace<recursive_mutex>(
                    home, name,
                    mutex_options{.lease = how.lease, .required_replicas = how.replicas});
            else
                lock_.emplace<mutex>(
                    home, name,
                    mutex_options{.lease = how.lease, .required_replicas = how.replicas});
        }
    }
    door(const door&) = delete;

    bool exists() const { return lock_.index() != 0; }
    void destroy() { lock_.emplace<std::monostate>(); }

    const std::optional<lease_time>& own_lease() const { return how_.lease; }
    unsigned replicas() const { return how_.replicas.value_or(0); }
    const making& how() const { return how_; }
    bool reads() const { return how_.kind == lock_kind::read; }
    bool counts() const { return exists() && how_.again == recursion::counted && !shared(); }
    shared_mutex* shared() { return std::get_if<shared_mutex>(&lock_); }
    const shared_mutex* shared() const { return std::get_if<shared_mutex>(&lock_); }

    basic_mutex& lock() {
        if (reads())
            return shared()->shared();
        return *std::visit([](auto& it) { return as_lock(it); }, lock_);
    }

    /// Takes the recursive lock once more.
    template <typename Token>
    auto lock_again(const lease& outer, Token token) {
        if (auto* const fenced = std::get_if<fenced_mutex>(&lock_))
            return fenced->async_lock(outer, std::move(token));
        if (auto* const spin = std::get_if<spin_mutex>(&lock_))
            return spin->async_lock(outer, std::move(token));
        if (auto* const others = std::get_if<token_mutex>(&lock_))
            return others->async_lock(outer, std::move(token));
        if (auto* const fair = std::get_if<fair_mutex>(&lock_))
            return fair->async_lock(outer, std::move(token));
        return std::get<recursive_mutex>(lock_).async_lock(outer, std::move(token));
    }

private:
    static basic_mutex* as_lock(std::monostate&) { return nullptr; }
    static basic_mutex* as_lock(basic_mutex& it) { return &it; }

    std::variant<std::monostate, mutex, recursive_mutex, spin_mutex, fenced_mutex, fair_mutex,
                 shared_mutex, token_mutex>
        lock_;
    const making how_;
};

} // namespace holdfast::sim
