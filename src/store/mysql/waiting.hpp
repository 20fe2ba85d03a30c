// SPDX-License-Identifier: Apache-2.0
// Waiters for locks (`lock_place`), and two ways to notice a release: a wait for the lock's user
// lock in GET_LOCK (`wakeup_wait`, `wakeup_locks`), and polling for all waiters together
// (`poller`).
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

/// A wait in GET_LOCK on its own connection. Each lock has a user lock (the `bell`), which the
/// lock's holder also holds. When the holder releases both, the server grants the user lock to the
/// next waiter. So this waiter learns of the release. The user lock is only a notification: if this
/// connection fails, the waiter polls the lock's row instead.
class wakeup_wait {
public:
    /// Returns whether a wait in GET_LOCK is useful. It is useful if the server has user locks and
    /// the command timeout is long enough.
    static bool is_of_use(const request_context&);

    /// Begins to wait. The request context and the alarm must outlive this object.
    wakeup_wait(request_context&, const lock_name&, alarm& wake);
    wakeup_wait(const wakeup_wait&) = delete;
    ~wakeup_wait(); ///< closes the connection, unless is_handed_over() was called

    /// Returns whether the object still waits for the user lock. Returns false if the object got
    /// the user lock, or if there is no connection for the wait. If the result is false, the caller
    /// polls. When the wait ends, the alarm `wake` rings.
    bool is_waiting() const noexcept;

    /// Returns the connection that holds the user lock now. The attempt must use this connection.
    /// Returns null if no connection holds the user lock.
    std::shared_ptr<pinned_connection> rung_on() const noexcept;

    /// Records that the user lock and its connection belong to a hold now. The hold will release
    /// them.
    void is_handed_over() noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Releases a lock's user lock (GET_LOCK) in the background, on the connection that has it. Closes
/// the connection if the release fails.
void ring_off(request_context&, const lock_name&, std::shared_ptr<pinned_connection> on);

/// Table of this client's holds that also have a user lock (GET_LOCK), with the connection of each
/// user lock.
class wakeup_locks {
public:
    /// Creates an empty table. `at` must outlive it.
    explicit wakeup_locks(request_context& at)
        : at_{at} {}

    /// Stores the connection that has the user lock of this hold. The entry expires at the time
    /// `until`. A call of extend() changes this time.
    void keep(const hold&, std::shared_ptr<pinned_connection>, time_point until);
    void extend(const hold&, time_point until);

    /// Removes the entry and returns its connection. Returns null if there is no entry. The caller
    /// must release the lock and the user lock on this connection.
    std::shared_ptr<pinned_connection> take_out(const hold&);

    /// Releases the user lock of a hold that was lost. If the release fails, closes the connection,
    /// so that the server frees the user lock.
    void drop(const hold&);

    /// Releases the user locks of holds that expired without a release.
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
/// second. `seldom`: a few times a second, because a user lock (GET_LOCK) should notify the waiter.
enum class poll_frequency { often, seldom };

/// Polls the server for all waiters of one client. Each SELECT asks for all waiters whose next poll
/// is due.
class poller {
public:
    /// The request context must outlive the poller.
    explicit poller(request_context&);
    poller(const poller&) = delete;
    ~poller();

    /// Polls until the SQL condition is true, and then rings the alarm `wake`. The condition is a
    /// result of `verbs::may_be_had`. The polling ends when the returned object is destroyed.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake,
                                 poll_frequency = poll_frequency::often);

    /// Ends the polling. After this call, no alarm rings.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

/// Waiter for one lock of any kind. It makes the attempts, and wakes the caller when the next
/// attempt may succeed.
class lock_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    lock_place(request_context&, wakeup_locks&, poller&, remote::lately_busy&, ask want,
               alarm& wake);

    /// Tries once to take the lock. The first attempt is a single statement, because most locks are
    /// free. Before the second attempt, the waiter begins to wait for the user lock or to poll.
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
    poll_frequency poll_frequency_ = poll_frequency::often; ///< how often `poll_` polls
    duration round_trip_{}; ///< time from the last attempt to its answer
};

} // namespace holdfast::mysql
