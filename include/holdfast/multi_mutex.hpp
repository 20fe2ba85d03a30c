// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace holdfast {

/// Several locks that are taken as one: all of them, or none. Redisson's MultiLock.
///
///     holdfast::mutex from{client, "account:7"}, to{client, "account:8"};
///     holdfast::multi_mutex both{from, to};
///     std::scoped_lock guard{both};
///
/// The members may be of any types, clients and stores. They are taken in one order, whatever the
/// order in which they are given; and nobody waits for one of them for long while it holds others:
/// so there is no deadlock, not even with a JVM that takes the same locks in another order.
///
/// *A hold* of it is believed while all members are. The loss of one is the loss of the whole:
/// `lost()` fires, and the others are released. unlock() releases all, whatever one of them
/// answers, and reports the worst answer. While a thread holds it, the thread holds each member,
/// too: `member.lock()` fails with `already_held` (or counts, where the member counts), and
/// `member.unlock()` with `not_owner`.
///
/// Two calls that try to take the same locks at the same moment may both find it busy.
/// *Questions*: `is_locked()` is true if a member is locked; `remaining_lease()` is the longest of
/// the members' leases; `force_unlock()` takes all members away, and returns whether one was
/// locked. Its calls wait, and its events are reported, on the client of the first member; its name
/// there is the members' names with " + " between them. The events of the members are reported as
/// well, each by its own client.
///
/// The errors are those of the members' verbs; a member that fails ends the call. `already_held`:
/// this thread holds a member by itself. `invalid_argument`, too: two of the members are the same
/// lock on the same server, which may be known only when the servers were asked.
/// Thread safety: as `basic_mutex`. The members need not live as long as this object.
class HOLDFAST_EXPORT multi_mutex : public basic_mutex {
public:
    static constexpr std::size_t members_max = 64;
    using members = std::vector<std::reference_wrapper<basic_mutex>>;

    /// No I/O. Throws `errc::invalid_argument` if there are no members or more than `members_max`,
    /// if two are the same lock of one client, or if one is itself made of several locks.
    explicit multi_mutex(const members&);
    template <std::derived_from<basic_mutex>... More>
    explicit multi_mutex(basic_mutex& first, basic_mutex& second, More&... more)
        : multi_mutex{members{first, second, more...}} {}

    /// Takes one of the members, whichever is free first: a lease of that one, whose `name()` says
    /// which it is. Empty: all were busy until the patience was over. A member that cannot be asked
    /// does not count, as long as another one can. The hold belongs to the lease, and no thread has
    /// it. Errors as those of `try_lock_for`.
    [[nodiscard]] std::optional<lease> try_lock_any() { return take_any({.patience = {}}); }
    template <typename Rep, typename Period>
    [[nodiscard]] std::optional<lease> try_lock_any_for(std::chrono::duration<Rep, Period> patience,
                                                        std::stop_token cancel = {}) {
        return take_any({.patience = detail::saturate(patience, detail::rounding::up),
                         .cancel = std::move(cancel)});
    }
    template <typename Rep, typename Period,
              asio::completion_token_for<void(error_code, std::optional<lease>)> Token>
    auto async_try_lock_any_for(std::chrono::duration<Rep, Period> patience, Token&& token) {
        return asio::async_initiate<Token, void(error_code, std::optional<lease>)>(
            [any = any_](auto handler, duration most) {
                start_try_lock(any, {.patience = most}, std::move(handler));
            },
            token, detail::saturate(patience, detail::rounding::up));
    }

    /// The fencing tokens of a lease of a multi_mutex, by member, in the order in which they were
    /// given: 0 where a member has none. Empty: it is no such lease.
    static std::vector<std::uint64_t> fencing_tokens(const lease&);

private:
    std::optional<lease> take_any(detail::wish);

    std::shared_ptr<sync::subject> any_;
};

} // namespace holdfast
