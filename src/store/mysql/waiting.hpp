// SPDX-License-Identifier: Apache-2.0
// Waiters for locks (`lock_place`), and two ways to notice a release. The first is a wait for the
// lock's user lock in GET_LOCK (`wakeup_wait`, `wakeup_locks`). The second is a `poller` that all
// waiters share.
#pragma once

#include "store/mysql/lock_requests.hpp"
#include "store/mysql/request_context.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::mysql {

/// A wait in GET_LOCK, on its own connection. For each lock there is a user lock (the `bell`),
/// which the lock's holder also holds. When the holder releases both, the server grants the user
/// lock to the next waiter, which so learns of the release. The user lock only notifies. If this
/// connection is cut, refused or stuck, the waiter polls the lock's row instead.
class wakeup_wait {
public:
    /// Returns whether a wait in GET_LOCK is useful: the server has user locks (the locks of
    /// GET_LOCK), and the time limit is long enough.
    static bool is_of_use(const request_context&);

    /// Begins to wait. The request context and the alarm must live longer than this object.
    wakeup_wait(request_context&, const lock_name&, alarm& wake);
    wakeup_wait(const wakeup_wait&) = delete;
    ~wakeup_wait(); ///< cuts the connection, unless the user lock was handed over

    /// Returns whether the object still waits for the user lock (GET_LOCK). Returns false if the
    /// user lock was granted, or if there is no connection for the wait. In both cases the caller
    /// polls. When the wait ends, the alarm `wake` rings.
    bool is_waiting() const noexcept;

    /// Returns the connection that holds the user lock (GET_LOCK) now; the attempt must use this
    /// connection. Returns null if no connection holds the user lock.
    std::shared_ptr<pinned_connection> rung_on() const noexcept;

    /// Records that the hold takes over the user lock (GET_LOCK) and its connection, and releases
    /// them later.
    void is_handed_over() noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Releases the user lock (GET_LOCK) of this lock on that connection, in the background. Cuts the
/// connection if the release fails.
void ring_off(request_context&, const lock_name&, std::shared_ptr<pinned_connection> on);

/// Table of this client's holds that also hold a user lock (GET_LOCK), with the connection of each
/// user lock. The user lock only notifies the next waiter; a waiter always asks the lock's row,
/// too.
class wakeup_locks {
public:
    /// Creates an empty table. `at` must outlive it.
    explicit wakeup_locks(request_context& at)
        : at_{at} {}

    /// Stores the connection that holds the user lock of this hold. The entry is valid until the
    /// time `until`; the function `extend` changes this time.
    void keep(const hold&, std::shared_ptr<pinned_connection>, time_point until);
    void extend(const hold&, time_point until);

    /// Removes the entry and returns its connection, on which the caller must release the lock and
    /// the user lock. Returns null if there is no entry.
    std::shared_ptr<pinned_connection> take_out(const hold&);

    /// Releases the user lock (GET_LOCK) that belongs to a lost hold. If that is not possible,
    /// closes the connection; the server then releases the user lock.
    void drop(const hold&);

    /// Releases the user locks (GET_LOCK) of holds that have expired but were not released.
    void drop_old();

private:
    struct kept {
        std::shared_ptr<pinned_connection> on;
        time_point until;
    };
    using key = std::pair<std::string, std::uint64_t>;
    static key key_of(const hold& held) { return {held.name.text, held.owner.number}; }
    void give_back(const std::string& name, std::shared_ptr<pinned_connection>);

    request_context& at_;
    std::map<key, kept> all_;
    time_point next_check_{};
};

/// How often to poll for a waiter. `often`: every few milliseconds at first, later ten times a
/// second. `seldom`: a few times a second, because a user lock will probably notify the waiter.
enum class poll_frequency { often, seldom };

/// Poller for all waiters of one client. One SELECT asks for all waiters that are due.
class poller {
public:
    /// The request context must outlive the poller.
    explicit poller(request_context&);
    poller(const poller&) = delete;
    ~poller();

    /// Polls until the SQL condition `condition` becomes true, and then rings the alarm `wake`. An
    /// example of a condition is `verbs::may_be_had`. The polling ends when the returned object is
    /// destroyed.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake,
                                 poll_frequency = poll_frequency::often);

    /// Stops polling. Afterwards no alarm rings.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

/// One waiter for a lock of any kind. It makes the attempts, and wakes the caller when the next
/// attempt may succeed.
class lock_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    lock_place(request_context&, wakeup_locks&, poller&, remote::lately_busy&, ask want,
               alarm& wake);

    /// Makes one attempt. The first attempt is a single statement, because most locks are free.
    /// Before the second attempt, the waiter starts to wait for the user lock or to poll.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> request(time_point deadline);
    void listen();

    request_context& at_;
    wakeup_locks& bells_;
    poller& poller_;
    remote::lately_busy& busy_;
    ask want_;
    const verbs& how_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<wakeup_wait> bell_;
    std::unique_ptr<watch> poll_;
    poll_frequency poll_frequency_ = poll_frequency::often; ///< rate at which `poll_` polls
    duration round_trip_{}; ///< duration of the last attempt's round trip
};

} // namespace holdfast::mysql
