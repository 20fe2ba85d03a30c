// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/fenced_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/spin_mutex.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace holdfast::sim {

/// A lock object of a simulated program, of any type.
class door {
public:
    struct making {
        lock_kind kind = lock_kind::plain;
        std::optional<lease_time> lease{};
        recursion again = recursion::refused;
        fencing tokens = fencing::counted;
    };

    door(client& home, const lock_name& name, const making& how)
        : lease_{how.lease}
        , counts_{how.again == recursion::counted} {
        if (how.kind == lock_kind::fenced)
            lock_.emplace<fenced_mutex>(home, name,
                                        fenced_options{how.tokens, how.lease, how.again});
        else if (how.kind == lock_kind::spin)
            lock_.emplace<spin_mutex>(home, name, spin_options{{}, how.lease, how.again});
        else if (counts_)
            lock_.emplace<recursive_mutex>(home, name, mutex_options{how.lease});
        else
            lock_.emplace<mutex>(home, name, mutex_options{how.lease});
    }
    door(const door&) = delete;

    bool exists() const { return lock_.index() != 0; }
    void destroy() { lock_.emplace<std::monostate>(); }

    bool counts() const { return exists() && counts_; } ///< re-entries
    const std::optional<lease_time>& own_lease() const { return lease_; }

    basic_mutex& lock() {
        return *std::visit([](auto& it) { return as_lock(it); }, lock_);
    }

    /// Re-enters, where it counts that.
    template <typename Token>
    auto lock_again(const lease& outer, Token token) {
        if (auto* const fenced = std::get_if<fenced_mutex>(&lock_))
            return fenced->async_lock(outer, std::move(token));
        if (auto* const spin = std::get_if<spin_mutex>(&lock_))
            return spin->async_lock(outer, std::move(token));
        return std::get<recursive_mutex>(lock_).async_lock(outer, std::move(token));
    }

private:
    static basic_mutex* as_lock(std::monostate&) { return nullptr; }
    static basic_mutex* as_lock(basic_mutex& it) { return &it; }

    std::variant<std::monostate, mutex, recursive_mutex, spin_mutex, fenced_mutex> lock_;
    const std::optional<lease_time> lease_;
    const bool counts_;
};

} // namespace holdfast::sim
