// SPDX-License-Identifier: Apache-2.0
// One client's way to the server. What a request meets on it, the test's fault function says:
//
//     asked ──request_delay──▶ executed ──answer_delay──▶ answered
//       └─ command_timeout, answer_by or cut_off ──▶ outcome_unknown; what is under way goes on
#pragma once

#include "runtime/remote_clock.hpp"
#include "store/memory/server_state.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::memory {

/// What the server said, and when.
template <typename T>
struct reply {
    T said;
    time_point sent_at;
    time_point received_at;
    microseconds server_now;   ///< at the moment between
    time_point forgets_before; ///< likewise
};

/// Thread safety: everything on the client's executor.
class link : public std::enable_shared_from_this<link> {
public:
    link(std::shared_ptr<server::state>, fault_function, duration command_timeout,
         const store_context&);

    /// Has `execute` (which answers a T) happen at the server, and learns the server's time from
    /// the answer. One that comes after `answer_by` is not waited for. Throws `errc::unreachable`,
    /// `errc::outcome_unknown` or `errc::closed`.
    template <typename T>
    asio::awaitable<reply<T>> call(const request& what, std::function<T(server::state&)> execute) {
        const fate f = decide(what);
        return carry<T>(shared_from_this(), f, std::move(execute), time_point::max());
    }

    /// For who has to know it before: what becomes of a request.
    fate decide(const request& what) const { return faults_ && !closed_ ? faults_(what) : fate{}; }
    template <typename T>
    asio::awaitable<reply<T>> call(const fate& f, std::function<T(server::state&)> execute,
                                   time_point answer_by) {
        return carry<T>(shared_from_this(), f, std::move(execute), answer_by);
    }

    /// Fails what is under way. Nothing of it reaches the server any more.
    void close() noexcept;

    const std::shared_ptr<server::state>& far_end() const { return server_; }
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }
    /// As it was in the last answer; nothing is known before the first.
    server_identity identity() const {
        return met_ ? server_identity{server_->id(), forgets_before_} : server_identity{};
    }
    duration command_timeout() const { return command_timeout_; }
    time_point now() const { return home_.time.now(); }

    /// Whether the wake-up that has just come is one that the test wants lost.
    bool loses_wake_up() { return std::exchange(deaf_, false); }

private:
    template <typename T>
    struct parcel {
        std::optional<reply<T>> answer;
        std::unique_ptr<alarm> receiver; ///< while somebody waits for the answer
    };

    template <typename T>
    static asio::awaitable<reply<T>> carry(std::shared_ptr<link>, fate,
                                           std::function<T(server::state&)> execute,
                                           time_point answer_by);
    template <typename T>
    void arrive(fate, time_point sent_at, std::function<T(server::state&)> execute,
                std::shared_ptr<parcel<T>>);

    /// Now, if it is that time already; never, if the link is closed by then.
    void at(time_point when, std::function<void()> act);
    static asio::awaitable<void> act_later(std::shared_ptr<link>, time_point when,
                                           std::function<void()> act);
    asio::awaitable<void> rest(alarm&, time_point until); ///< or until the link is closed

    std::shared_ptr<server::state> server_;
    fault_function faults_;
    duration command_timeout_;
    const store_context home_;
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();
    std::list<alarm*> sleepers_; // in order, so that a simulation repeats itself
    bool deaf_ = false;
    bool closed_ = false;
    bool met_ = false;
    time_point forgets_before_ = time_point::min();
};

[[noreturn]] void fail_closed();
[[noreturn]] void fail_unreachable();
[[noreturn]] void fail_outcome_unknown();
[[noreturn]] void fail_overloaded();
[[noreturn]] void fail_denied();
[[noreturn]] void fail_wrong_type(const char* what_it_is);

template <typename T>
asio::awaitable<reply<T>> link::carry(std::shared_ptr<link> self, fate f,
                                      std::function<T(server::state&)> execute,
                                      time_point answer_by) {
    if (self->closed_)
        fail_closed();
    self->deaf_ = self->deaf_ || f.wake_up_lost;
    if (f.refused)
        fail_unreachable();
    if (f.overloaded)
        fail_overloaded();

    const time_point sent_at = self->now();
    const duration patience = self->command_timeout_;
    const time_point limit =
        std::min(answer_by, sent_at + std::min(patience, f.cut_off.value_or(patience)));
    const auto sent = std::make_shared<parcel<T>>();
    if (!f.request_lost) {
        auto arrive = [self, f, sent_at, execute, sent] {
            self->arrive<T>(f, sent_at, execute, sent);
        };
        self->at(sent_at + f.request_delay, std::move(arrive));
    }
    if (!sent->answer) {
        sent->receiver = self->home_.time.make_alarm();
        co_await self->rest(*sent->receiver, limit);
    }
    if (self->closed_)
        fail_closed();
    if (!sent->answer)
        fail_outcome_unknown();
    const reply<T>& got = *sent->answer;
    self->server_clock_->learn(got.sent_at, got.received_at, got.server_now);
    self->met_ = true;
    self->forgets_before_ = std::max(self->forgets_before_, got.forgets_before);
    if (f.denied)
        fail_denied();
    co_return got;
}

template <typename T>
void link::arrive(fate f, time_point sent_at, std::function<T(server::state&)> execute,
                  std::shared_ptr<parcel<T>> sent) {
    reply<T> answer{
        f.denied ? T{} : execute(*server_), sent_at, {}, server_->now(), server_->forgets_before()};
    if (f.executed_again && !f.denied)
        at(now() + *f.executed_again, [server = server_, execute] { (void)execute(*server); });
    if (f.answer_lost)
        return;
    at(now() + f.answer_delay, [this, sent, answer = std::move(answer)]() mutable {
        answer.received_at = now();
        sent->answer = std::move(answer);
        if (sent->receiver)
            sent->receiver->ring();
    });
}

} // namespace holdfast::memory
