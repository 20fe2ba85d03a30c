// SPDX-License-Identifier: Apache-2.0
// Connection of one client to the servers (`server_connection`), with the subscriptions of its
// waiters (`subscriber`) and its unacknowledged releases (`orphans`). The test's fault function
// decides what happens to a request:
//
//     asked ──request_delay──▶ executed ──replicas──▶ confirmed ──answer_delay──▶ answered
//       └─ command_timeout, answer_by, cut_off or another primary ──▶ outcome_unknown; a request
//          that is already at the server continues
//
// At any time, the connection leads to one machine: to the primary of the last announcement that
// it received.
#pragma once

#include "runtime/remote_clock.hpp"
#include "store/memory/replicas.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/memory/server.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::memory {

class subscriber;

/// Request of the memory store, with details that are not public. A user's fault function sees only
/// the base class `request`.
struct sent_request : request {
    /// True if an earlier request on the first connection got no reply. This request then uses a
    /// second connection.
    bool elsewhere = false;
    /// Set if the request takes permits from a counter (`count`), or undoes a request that may have
    /// taken permits (`release`).
    const counter_ask* counted = nullptr;
    const counter_change* changed = nullptr; ///< set for `change`
    std::uint8_t replicas = 0;               ///< replicas that must confirm the write
    /// Deadline by the server's clock. After this time, the server refuses this attempt to take a
    /// lock. Empty if the client has no estimate of the server's clock yet.
    std::optional<std::chrono::microseconds> deadline{};
};

/// Returns all details of a request that was passed to a fault function. Only tests call this
/// function.
inline const sent_request& details_of(const request& got) {
    return static_cast<const sent_request&>(got);
}

/// Reply of the server, with the time at which the server executed the request.
template <typename T>
struct reply {
    T said;
    time_point sent_at;
    time_point received_at;
    microseconds server_now;   ///< the server's clock when it executed the request
    time_point forgets_before; ///< value of server_state::forgets_before() at that time
    /// Why too few replicas confirmed the request. Empty if enough replicas confirmed it.
    std::string unconfirmed{};
    /// This connection's estimate of the server's clock.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// Connection of a client to the primary. When another primary is announced, the connection moves
/// to it. Thread safety: call everything on the client's executor.
class server_connection : public std::enable_shared_from_this<server_connection> {
public:
    server_connection(std::shared_ptr<server_group>, const way&, const store_context&);
    ~server_connection();

    void begin(); ///< subscribes to announcements; call it once, before the first request

    /// Runs `execute` at the server. Passes the reply to `then`, and returns the result of `then`.
    /// Also improves the estimate of the server's clock. Waits until `answer_by` at most. Throws
    /// `errc::unreachable`, `errc::outcome_unknown` or `errc::closed`.
    template <typename T, typename Then>
    asio::awaitable<std::invoke_result_t<Then, reply<T>>>
    call(const sent_request& what, std::function<T(server_state&)> execute, Then then) {
        return call<T>(decide(what), what, std::move(execute), time_point::max(), std::move(then));
    }

    /// Returns the faults and delays that the test has chosen for a request. Some callers must know
    /// the faults before they send the request.
    fate decide(sent_request what) const;
    template <typename T, typename Then>
    asio::awaitable<std::invoke_result_t<Then, reply<T>>>
    call(fate f, const sent_request& what, std::function<T(server_state&)> execute,
         time_point answer_by, Then then) {
        auto sent = std::make_shared<parcel<T>>();
        sent->meets = std::move(f);
        sent->wanted = confirmation_for(what, answer_by);
        sent->execute = std::move(execute);
        return carry<T>(shared_from_this(), std::move(sent), answer_by, std::move(then));
    }

    /// Makes all running requests fail. Requests that have not reached the server yet will never
    /// reach it.
    void close() noexcept;

    const std::shared_ptr<server_state>& far_end() const { return server_; }
    /// Returns the estimate of the server's clock.
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }
    /// Returns the server's identity from the last reply. The result is empty before the first
    /// reply.
    server_identity identity() const {
        return met_ ? server_identity{server_->id(), forgets_before_} : server_identity{};
    }
    duration command_timeout() const { return command_timeout_; }
    /// Returns the length of a session, or zero if holds have their own leases.
    duration session_time() const { return session_time_; }
    bool is_by_session() const { return session_time_ > duration::zero(); }
    /// Returns whether this store must repeat a release that failed.
    bool keeps_orphans() const { return is_by_session(); }
    bool closed() const { return closed_; }
    asio::awaitable<void>
        nap(duration); ///< sleeps for this time; ends early if the connection is closed
    time_point now() const { return home_.time.now(); }

    /// Returns true if the test wants the next notification to be lost. The call after that returns
    /// false again.
    bool loses_wake_up() { return std::exchange(deaf_, false); }

    // Functions that add and remove a subscriber. When the connection moves to another machine, its
    // subscribers move, too.
    void add(subscriber& one) { subscribers_.push_back(&one); }
    void remove(subscriber& one) { std::erase(subscribers_, &one); }

private:
    /// How many replicas must confirm a write, and how long to wait for them.
    struct confirmation {
        unsigned replicas = 0;
        duration within{};
        time_point until{}; ///< end of the time limit
        /// Number of times that the machine had been demoted when the wait began. The wait ends if
        /// the machine is demoted again.
        std::uint64_t demotions_before{};
    };
    /// State of a request, from when it is sent until no caller waits for its reply any more.
    struct pending_request {
        std::unique_ptr<alarm> receiver; ///< set while a caller waits for the reply
        std::uint64_t connection = 0;    ///< number of the connection that the request uses
        bool refused = false;            ///< true: the machine is a replica, so it has done nothing
        bool cut = false;                ///< true: the connection of the request was ended
    };
    template <typename T>
    struct parcel : pending_request {
        fate meets;
        confirmation wanted;
        std::function<T(server_state&)> execute;
        reply<T> blank{}; ///< reply before the server executes the request
        std::optional<reply<T>> answer;
    };
    /// Guard that registers a request while a caller waits for its reply. The request fails if the
    /// connection moves to another machine.
    class awaited_here;

    template <typename T, typename Then>
    static asio::awaitable<std::invoke_result_t<Then, reply<T>>>
    carry(std::shared_ptr<server_connection>, std::shared_ptr<parcel<T>>, time_point answer_by,
          Then);
    template <typename T>
    void arrive(std::shared_ptr<server_state> there, std::shared_ptr<parcel<T>>);
    template <typename T>
    void send_back(reply<T>, std::shared_ptr<parcel<T>>);
    confirmation confirmation_for(const sent_request&, time_point answer_by) const;
    /// Waits for the confirmation of a write by replicas, and then calls `told`. If enough replicas
    /// have confirmed the write, the argument of `told` is empty. If not, the argument is the
    /// reason.
    void await_confirmation(std::shared_ptr<server_state> there, std::uint64_t write,
                            confirmation wanted, std::function<void(std::string)> told);
    static void deliver(const pending_request&);
    /// Runs `act` on the executor when the stopped machine is resumed. Does nothing if the
    /// connection has been closed by then.
    void when_it_goes_on(server_state& there, std::function<void()> act);

    void hear_of(const server_group::announcement&);
    void ask_for_primary();
    void move_to(const server_group::announcement&, std::string_view who_said_so);
    void connect();
    void give_up_connection();

    /// Runs `act` at the time `when`, or now if that time has passed. Does nothing if the
    /// connection has been closed by then.
    void at(time_point when, std::function<void()> act);
    static asio::awaitable<void> act_later(std::shared_ptr<server_connection>, time_point when,
                                           std::function<void()> act);
    /// Sleeps until this time. The sleep ends early if the connection is closed.
    asio::awaitable<void> rest(alarm&, time_point until);

    std::shared_ptr<server_group> group_;
    std::shared_ptr<server_state> server_;
    std::uint64_t term_;           // term of the current machine's announcement
    std::uint64_t listener_ = 0;   // number of the registration at the group
    std::uint64_t connection_ = 0; // number of the current connection
    std::uint64_t last_write_ = 0; // last write of this connection at its machine
    std::list<subscriber*> subscribers_;
    std::list<pending_request*> under_way_;
    fault_function faults_;
    notice_function notices_;
    duration command_timeout_;
    const duration session_time_;
    const store_context home_;
    // Function `post` of the client's `store_context`.
    const std::function<bool(asio::any_completion_handler<void()>)> post_;
    std::shared_ptr<runtime::remote_clock> server_clock_;
    // Alarms of the coroutines that sleep now. This is a list because a list has a fixed order,
    // which makes a simulation repeatable.
    std::list<alarm*> sleepers_;
    bool deaf_ = false;
    bool closed_ = false;
    bool met_ = false;
    time_point forgets_before_ = time_point::min();
};

class server_connection::awaited_here {
public:
    awaited_here(server_connection& at, pending_request& one)
        : all_{at.under_way_}
        , entry_{all_.insert(all_.end(), &one)} {
        one.receiver = at.home_.time.make_alarm();
    }
    awaited_here(const awaited_here&) = delete;
    ~awaited_here() {
        (*entry_)->receiver.reset();
        all_.erase(entry_);
    }

private:
    std::list<pending_request*>& all_;
    std::list<pending_request*>::iterator entry_;
};

/// Function for call() that returns only the reply's value.
template <typename T>
T said_only(reply<T> got) {
    return std::move(got.said);
}

[[noreturn]] void fail_closed();
[[noreturn]] void fail_unreachable();
[[noreturn]] void fail_outcome_unknown();
[[noreturn]] void fail_overloaded();
[[noreturn]] void fail_denied();

template <typename T, typename Then>
asio::awaitable<std::invoke_result_t<Then, reply<T>>>
server_connection::carry(std::shared_ptr<server_connection> self, std::shared_ptr<parcel<T>> sent,
                         time_point answer_by, Then then) {
    const fate& f = sent->meets;
    if (self->closed_)
        fail_closed();
    self->deaf_ = self->deaf_ || f.wake_up_lost;
    if (f.refused)
        fail_unreachable();
    if (f.overloaded)
        fail_overloaded();

    sent->blank.sent_at = self->now();
    sent->blank.clock = self->server_clock_;
    const duration timeout = self->command_timeout_;
    const time_point limit =
        std::min(answer_by, self->now() + std::min(timeout, f.cut_off.value_or(timeout)));
    sent->connection = self->connection_;
    if (!f.request_lost) {
        auto arrive = [self, there = self->server_, sent] { self->arrive<T>(there, sent); };
        self->at(self->now() + f.request_delay, std::move(arrive));
    }
    if (!sent->answer && !sent->refused) {
        const awaited_here listed{*self, *sent};
        co_await self->rest(*sent->receiver, limit);
    }
    if (self->closed_)
        fail_closed();
    if (sent->refused) {
        self->ask_for_primary();
        fail_unreachable();
    }
    if (!sent->answer) {
        if (sent->connection == self->connection_)
            self->give_up_connection();
        fail_outcome_unknown();
    }
    reply<T>& got = *sent->answer;
    got.clock->learn(got.sent_at, got.received_at, got.server_now);
    self->met_ = true;
    self->forgets_before_ = std::max(self->forgets_before_, got.forgets_before);
    if (f.denied)
        fail_denied();
    co_return then(std::move(got));
}

template <typename T>
void server_connection::arrive(std::shared_ptr<server_state> there,
                               std::shared_ptr<parcel<T>> sent) {
    if (there->stands_still())
        return when_it_goes_on(*there, [this, there, sent] { arrive<T>(there, sent); });
    const fate& f = sent->meets;
    if (!there->is_primary()) {
        sent->refused = true;
        return at(now() + f.answer_delay, [sent] { deliver(*sent); });
    }
    if (is_by_session())
        there->prolong_session(home_.client, session_time_);
    const std::uint64_t before = there->writes();
    reply<T> answer = std::move(sent->blank);
    answer.said = f.denied ? T{} : sent->execute(*there);
    const std::uint64_t after = there->writes();
    const bool is_of_today = sent->connection == connection_;
    if (is_of_today && after != before)
        last_write_ = after;
    answer.server_now = there->now();
    answer.forgets_before = there->forgets_before();
    if (f.executed_again && !f.denied)
        at(now() + *f.executed_again, [there, sent] {
            if (there->is_primary() && !there->stands_still())
                (void)sent->execute(*there);
        });
    confirmation wanted = sent->wanted;
    if (wanted.replicas == 0 || f.denied)
        return send_back(std::move(answer), std::move(sent));
    auto told = [this, answer = std::move(answer), sent](std::string unconfirmed) mutable {
        answer.unconfirmed = std::move(unconfirmed);
        send_back(std::move(answer), sent);
    };
    const std::uint64_t write = is_of_today ? last_write_ : after;
    wanted.until = now() + wanted.within;
    wanted.demotions_before = there->demotions();
    await_confirmation(there, write, wanted, std::move(told));
}

template <typename T>
void server_connection::send_back(reply<T> answer, std::shared_ptr<parcel<T>> sent) {
    if (sent->meets.answer_lost)
        return;
    const time_point when = now() + sent->meets.answer_delay;
    at(when, [this, sent = std::move(sent), answer = std::move(answer)]() mutable {
        answer.received_at = now();
        sent->answer = std::move(answer);
        deliver(*sent);
    });
}

// Notification of a waiter when another client releases a lock. The other client may be on another
// thread.

/// Subscription of a waiter. While this object exists, each release of `name` at the primary makes
/// the waiter's executor call `heard`. After the subscription has moved to another primary, `heard`
/// is also called once.
class subscriber {
public:
    /// Creates the subscription. `wanted` is the number of permits that the waiter needs. For
    /// locks, `wanted` is 0.
    subscriber(std::shared_ptr<server_connection> way, lock_name name,
               asio::any_io_executor executor, std::function<void()> heard, std::int64_t wanted = 0)
        : way_{std::move(way)}
        , at_{way_->far_end()}
        , name_{std::move(name)}
        , executor_{std::move(executor)}
        , heard_{std::make_shared<std::function<void()>>(std::move(heard))}
        , wanted_{wanted} {
        at_->add(*this);
        way_->add(*this);
    }
    subscriber(const subscriber&) = delete;
    ~subscriber() {
        way_->remove(*this);
        at_->remove(*this);
    }

    const lock_name& name() const { return name_; }
    std::int64_t wanted() const { return wanted_; }

    void move_to(const std::shared_ptr<server_state>& other) {
        at_->remove(*this);
        at_ = other;
        at_->add(*this);
        tell();
    }

    /// Notifies the waiter. Thread-safe. Has no effect if this object is destroyed before the
    /// notification arrives.
    void tell() const {
        asio::post(executor_, [weak = std::weak_ptr{heard_}] {
            if (const auto heard = weak.lock())
                (*heard)();
        });
    }

private:
    std::shared_ptr<server_connection> way_;
    std::shared_ptr<server_state> at_;
    lock_name name_;
    asio::any_io_executor executor_;
    std::shared_ptr<std::function<void()>> heard_;
    std::int64_t wanted_;
};

/// List of holds whose releases the server did not acknowledge. Each release is repeated until the
/// server acknowledges it or the connection is closed. The list is needed only if holds last as
/// long as the client's session: a hold with a lease expires by itself. Thread safety: call
/// everything on the client's executor.
class orphans : public std::enable_shared_from_this<orphans> {
public:
    /// Creates an empty list. `context` must outlive this object, unless the connection is closed
    /// first.
    orphans(std::shared_ptr<server_connection> way, const store_context& context)
        : server_connection_{std::move(way)}
        , context_{context} {}

    void keep(const hold&);
    void forget(const hold&); ///< removes a hold: its release was acknowledged

private:
    bool is_left(const hold&) const;
    static asio::awaitable<void> release(std::shared_ptr<orphans>, hold);

    std::shared_ptr<server_connection> server_connection_;
    const store_context& context_;
    std::vector<hold> left_;
};

/// Releases a hold. If the release fails, adds the hold to the list of unacknowledged releases.
asio::awaitable<release_answer> release_or_keep(std::shared_ptr<server_connection>,
                                                std::shared_ptr<orphans>, hold);

} // namespace holdfast::memory
