// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace holdfast {

/// Several locks that are acquired as one: all of them, or none. Redisson calls it MultiLock.
///
///     holdfast::mutex from{client, "account:7"}, to{client, "account:8"};
///     holdfast::multi_mutex both{from, to};
///     std::scoped_lock guard{both};
///
/// The members may have different types, clients and stores. The object acquires them in a fixed
/// order, whatever the order of the arguments. No caller waits long for one member while it holds
/// other members. So there is no deadlock, not even with a JVM that acquires the same locks in
/// another order.
///
/// *Hold.* The hold is valid while the holds of all members are valid. If one member is lost, the
/// whole hold is lost: `lost()` fires, and the other members are released. unlock() releases all
/// members, even if one release fails, and reports the worst result. A thread that holds the
/// multi_mutex also holds each member: `member.lock()` then fails with `already_held` (or counts,
/// if the member is recursive), and `member.unlock()` fails with `not_owner`.
///
/// Two calls that try to acquire the same locks at the same time may both fail.
///
/// *Questions.* `is_locked()` is true if any member is locked. `remaining_lease()` is the longest
/// lease of the members. `force_unlock()` removes all members from their holders, and returns
/// whether any member was locked.
///
/// *Client.* The client of the first member runs the waiting calls and reports their events. In
/// these events, the lock's name is the members' names with " + " between them. Each member's
/// client also reports the events of that member.
///
/// *Errors.* The functions throw the errors of the members' functions; an error of one member ends
/// the call. They throw `already_held` if this thread holds a member by itself. They throw
/// `invalid_argument` if two members are the same lock on the same server, which the client may
/// notice only after it has asked the servers.
///
/// Thread safety: any thread may call every member function. The locks that the constructor got may
/// be destroyed before this object.
class HOLDFAST_EXPORT multi_mutex : public basic_mutex {
public:
    static constexpr std::size_t members_max = 64;
    using members = std::vector<std::reference_wrapper<basic_mutex>>;

    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if there are no
    /// members or more than `members_max`. It also throws if two members are the same lock of one
    /// client, or if a member itself consists of several locks.
    explicit multi_mutex(const members&);
    template <std::derived_from<basic_mutex>... More>
    explicit multi_mutex(basic_mutex& first, basic_mutex& second, More&... more)
        : multi_mutex{members{first, second, more...}} {}

    /// Acquires the first member that is free. Returns the lease of that member; `lease::name()` is
    /// the member's name. The result is empty if all members were busy until the timeout expired.
    /// If the store of a member cannot be reached, the call skips this member, as long as another
    /// member can be asked. The lease owns the hold; no thread owns it. Throws the errors of
    /// `try_lock_for`.
    [[nodiscard]] std::optional<lease> try_lock_any() { return take_any({.timeout = {}}); }
    template <typename Rep, typename Period>
    [[nodiscard]] std::optional<lease> try_lock_any_for(std::chrono::duration<Rep, Period> timeout,
                                                        std::stop_token cancel = {}) {
        return take_any({.timeout = detail::saturate(timeout, detail::rounding::up),
                         .cancel = std::move(cancel)});
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_any_for(std::chrono::duration<Rep, Period> timeout, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [any = any_](auto handler, duration most) {
                start_try_lock(any, {.timeout = most}, std::move(handler));
            },
            token, detail::saturate(timeout, detail::rounding::up));
    }

    /// Returns the fencing tokens of a lease of a multi_mutex: one token per member, in the order
    /// of the members. The token is 0 for a member that has no tokens. The result is empty if the
    /// lease belongs to another type of lock.
    static std::vector<std::uint64_t> fencing_tokens(const lease&);

private:
    std::optional<lease> take_any(detail::acquire_options);

    std::shared_ptr<sync::lock_descriptor> any_;
};

} // namespace holdfast
