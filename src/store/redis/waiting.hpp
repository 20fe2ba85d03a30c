// SPDX-License-Identifier: Apache-2.0
// Waiters for locks, semaphores, latches and rate limiters (`place`). Also the times for which
// waiters stay in the queues of fair locks (`fair_timeout`).
#pragma once

#include "redis/node.hpp"
#include "store/redis/client_info.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/replies.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace holdfast::redis {

/// Chooses how long the waiters of this client stay in the queue of a fair lock after each request.
/// If the clock of a Redisson client's machine is fast, that client may remove living waiters from
/// the queue. After this has happened, this client's waiters for the lock stay longer, but no
/// longer than Redisson's waiters.
class fair_timeout {
public:
    /// `context` must outlive this object.
    fair_timeout(const store_context& context, duration longest)
        : context_{context}
        , longest_{std::min<duration>(longest, std::chrono::hours{1})} {}

    duration of(const ask&) const;

    /// Records that an owner was missing in a queue, and reports this to the user's observer.
    /// `in_time`: the owner had asked again before its time in the queue expired. In this case, the
    /// waiters for this lock stay longer from now on.
    void lost(const ask&, bool in_time);

private:
    /// Maximum number of lock names for which waiters stay longer.
    static constexpr std::size_t names_max = 1000;

    const store_context& context_;
    const duration longest_; // at most an hour, like the options of users
    // For each lock name, how long a waiter stays in the queue after each request.
    std::unordered_map<std::string, duration> longer_;
};

/// State of a waiter in the queue for a direct hand-off: its subscriptions and its last request.
struct queue_place {
    std::unique_ptr<hearing> inbox{};
    std::unique_ptr<hearing> counted{}; ///< lets a release count the waiting clients
    bool is_open = false;               ///< true: both subscriptions are confirmed
    std::uint64_t requests = 0;         ///< number of requests that were sent
    /// Message that would grant the lock to this waiter now, and the time at which the last request
    /// was sent. The text is empty if no message may grant the lock: the last request has no reply
    /// yet, did not join the queue, or did not find the lock busy.
    std::string grant{};
    time_point asked_at{};
};

/// Waiter for a lock of any kind. It has the subscription to releases and the state of its
/// attempts.
class lock_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    lock_place(node& server, const store_context& context, missing_permissions& denied,
               fair_timeout& timeout, remote::lately_busy& busy, presence_refresh* presence,
               ask want, alarm& wake);

    /// Asks for the lock. The first call sends only a script, because most locks are free. The
    /// second call subscribes to releases first. If the lock is fair and was busy lately, the first
    /// call subscribes, too.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> send(time_point deadline);
    asio::awaitable<attempt> send_outside_queue(time_point deadline);
    asio::awaitable<attempt> request(time_point deadline);
    std::optional<answer> grant_in_inbox();
    void note_place(const attempt&);
    void note_whether_busy(const attempt&);
    asio::awaitable<void> listen(duration timeout);
    asio::awaitable<void> listen_in_queue(time_point limit);

    node& server_;
    const store_context& context_;
    missing_permissions& missing_permissions_;
    fair_timeout& timeout_;
    remote::lately_busy& busy_;
    presence_refresh* const presence_;
    ask want_;
    const verbs& how_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<hearing> subscriber_;
    std::optional<queue_place> queue_{}; ///< empty: the lock has no direct hand-off
    duration round_trip_{};              ///< time from the last request to its reply
    bool listening_ = false;
    bool was_busy_ = false;
    time_point place_lasts_until_{};
    bool loss_told_ = false;
};

/// Waiter for a semaphore or a latch. It has the subscription, the state of its attempts, and the
/// slot in which the server remembers its request. A request to a latch takes nothing, so there is
/// nothing to undo.
class counter_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    counter_place(node& server, const store_context& context, missing_permissions&, request_slots&,
                  counter_ask want, alarm& wake);
    ~counter_place() override;

    /// Sends the request. The first call sends only a script. Each later call subscribes first,
    /// until the server has confirmed the subscription.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return takes() && attempts_.must_leave(); }
    bool uncertain() const noexcept override { return takes() && attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    bool takes() const noexcept { return want_.kind != counter_kind::latch; }
    asio::awaitable<remote::attempt> request(time_point deadline);
    asio::awaitable<void> listen();

    node& server_;
    const store_context& context_;
    missing_permissions& missing_permissions_;
    request_slots& slots_;
    const counter_ask want_;
    const ask in_time_; ///< copy of `want` with its deadline; `attempts_` uses it
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<hearing> subscriber_;
    bool listening_ = false;
};

/// Waiter for permits of a rate limiter. The server sends no notifications about free permits. Its
/// reply says when to ask again.
class rate_place final : public place {
public:
    /// Creates the waiter. All arguments but `want` must outlive the waiter.
    rate_place(node& server, const store_context& context, missing_permissions&, counter_ask want);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<remote::attempt> request(time_point deadline);

    node& server_;
    const store_context& context_;
    missing_permissions& missing_permissions_;
    const counter_ask want_;
    const ask in_time_; ///< copy of `want` with its deadline; `attempts_` uses it
    remote::attempts attempts_;
};

} // namespace holdfast::redis
