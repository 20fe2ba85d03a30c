// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/waiting.hpp"

#include "net/deadlines.hpp"
#include "runtime/background.hpp"
#include "store/mysql/lock_statements.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace holdfast::mysql {

// A waiter first asks for the lock, starts to wait for a notification, and asks again. After that,
// it sleeps and asks again, until it gets the lock.

namespace {

/// Margin for rounding: the server rounds the remaining time, and the two clocks are read at
/// different moments.
constexpr duration rounding_of_ends{1};

} // namespace

lock_place::lock_place(request_context& at, wakeup_locks& all, poller& polls,
                       remote::lately_busy& busy, ask want, alarm& wake)
    : at_{at}
    , bells_{all}
    , poller_{polls}
    , busy_{busy}
    , want_{std::move(want)}
    , how_{*verbs_of(want_.kind)}
    , wake_{wake}
    , attempts_{at.context, want_, at.server.command_timeout()} {}

asio::awaitable<answer> lock_place::look() {
    if (attempts_.found_busy())
        listen();
    const duration bound = remote::poll_bound_of(want_, at_.context.poll_bound);
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), bound, rounding_of_ends);
}

asio::awaitable<attempt> lock_place::request(time_point deadline) {
    remote::set_terms_of_mark(want_, at_.context.poll_bound, round_trip_);
    const std::shared_ptr<pinned_connection> rung_on = bell_ ? bell_->rung_on() : nullptr;
    const bool may_be_free = !attempts_.found_busy() && !busy_.contains(want_.name.text);
    take_terms terms{deadline, rung_on, may_be_free};
    const taken got = co_await how_.take(at_, want_, std::move(terms));
    round_trip_ = got.seen.received_at - got.seen.sent_at;
    busy_.note(want_.name.text, got.seen.said == verdict::busy);
    if (got.seen.said == verdict::granted) {
        if (got.bell)
            bells_.keep(want_, got.bell, net::later(got.seen.sent_at, want_.lease_time));
        if (rung_on && got.bell)
            bell_->is_handed_over();
        bell_.reset();
        poll_.reset();
    }
    co_return got.seen;
}

/// Starts to wait for a notification. If the server has user locks (GET_LOCK), waits for the lock's
/// user lock. Also polls, but seldom, because a holder that is dead or has lost the lock may still
/// have the user lock. Polls often in two cases: the server has no user locks, or this waiter got
/// the user lock although the lock is still held.
void lock_place::listen() {
    if (how_.has_bell && !bell_ && wakeup_wait::is_of_use(at_))
        bell_ = std::make_unique<wakeup_wait>(at_, want_.name, wake_);
    const poll_frequency now =
        bell_ && bell_->is_waiting() ? poll_frequency::seldom : poll_frequency::often;
    if (!poll_ || poll_frequency_ != now)
        poll_ = poller_.enrol(how_.may_be_had(at_, want_), wake_, now);
    poll_frequency_ = now;
}

asio::awaitable<void> lock_place::leave() {
    bell_.reset();
    poll_.reset();
    if (!attempts_.must_leave())
        co_return;
    std::shared_ptr<pinned_connection> bell = bells_.take_out(want_);
    co_await how_.release(at_, want_, std::move(bell));
    attempts_.left();
}

namespace {

constexpr duration between_checks = std::chrono::seconds{10};

asio::awaitable<void> drop_bell(database& server, std::string text,
                                std::shared_ptr<pinned_connection> on) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{text};
    };
    composing dropped{make};
    call_options options{.on = on, .reserved = true};
    try {
        co_await server.run(dropped, options);
    } catch (const boost::system::system_error&) {
        on->cut(); // the server then releases its user locks
    }
}

} // namespace

void wakeup_locks::keep(const hold& held, std::shared_ptr<pinned_connection> on, time_point until) {
    drop_old();
    all_[key_of(held)] = {std::move(on), until};
}

void wakeup_locks::extend(const hold& held, time_point until) {
    if (const auto found = all_.find(key_of(held)); found != all_.end())
        found->second.until = until;
}

std::shared_ptr<pinned_connection> wakeup_locks::take_out(const hold& held) {
    const auto found = all_.find(key_of(held));
    if (found == all_.end())
        return nullptr;
    std::shared_ptr<pinned_connection> on = std::move(found->second.on);
    all_.erase(found);
    return on;
}

void wakeup_locks::drop(const hold& held) {
    if (std::shared_ptr<pinned_connection> on = take_out(held))
        give_back(held.name.text, std::move(on));
}

void wakeup_locks::drop_old() {
    const time_point now = at_.context.time.now();
    if (now < next_check_)
        return;
    next_check_ = net::later(now, between_checks);
    for (auto each = all_.begin(); each != all_.end();) {
        if (each->second.until > now) {
            ++each;
            continue;
        }
        give_back(each->first.first, std::move(each->second.on));
        each = all_.erase(each);
    }
}

void wakeup_locks::give_back(const std::string& name, std::shared_ptr<pinned_connection> on) {
    ring_off(at_, lock_name{name}, std::move(on));
}

void ring_off(request_context& at, const lock_name& name, std::shared_ptr<pinned_connection> on) {
    if (on->is_cut())
        return;
    runtime::run_in_background(at.context,
                               drop_bell(at.server, bell_dropped(at.bell(name)), std::move(on)));
}

namespace {

using std::chrono::seconds;

/// Longest wait in one statement. The server measures the wait by its system time, which may jump.
/// So the client also measures the wait, and stops waiting one second later.
constexpr seconds longest_wait{5};
constexpr seconds margin{1};

seconds wait_of(const request_context& at) {
    const auto limit = std::chrono::floor<seconds>(at.server.command_timeout());
    return std::min(longest_wait, limit - margin);
}

} // namespace

/// State that a wakeup_wait shares with its loop.
struct wakeup_wait::state {
    state(request_context& where, std::string name, alarm& to_ring)
        : at{where}
        , bell{std::move(name)}
        , wake{&to_ring} {}

    void ring() {
        if (wake)
            wake->ring();
    }

    request_context& at;
    const std::string bell;
    alarm* wake; ///< null: the caller does not wait any more
    std::shared_ptr<pinned_connection> on{};
    bool has_bell = false, waits = true;
};

namespace {

/// Sends GET_LOCK once. Returns true if the connection got the user lock. Returns false if the wait
/// timed out. Throws if the request failed.
asio::awaitable<bool> wait_once(request_context& at, const std::string& bell,
                                std::shared_ptr<pinned_connection> on) {
    const seconds timeout = wait_of(at);
    const std::string text =
        "SELECT GET_LOCK('" + bell + "'," + std::to_string(timeout.count()) + ")";
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{text};
    };
    composing waiting{make};
    call_options options{.answer_by = at.context.time.now() + timeout + margin, .on = on};
    const answers said = co_await at.server.run(waiting, options);
    const result& got = answer_at(said, 0);
    co_return !got.rows.empty() && !got.rows.front().empty() && got.rows.front().front() == "1";
}

} // namespace

bool wakeup_wait::is_of_use(const request_context& at) {
    return at.server.has_bells() && wait_of(at) >= seconds{1};
}

wakeup_wait::wakeup_wait(request_context& at, const lock_name& name, alarm& wake)
    : state_{std::make_shared<state>(at, at.bell(name), wake)} {
    // The loop is a lambda without captures. It gets its data as arguments, because arguments live
    // in the coroutine's frame.
    const auto loop = [](std::shared_ptr<state> self) -> asio::awaitable<void> {
        try {
            self->on = co_await self->at.server.connection_to_wait_on(
                self->at.context.time.now() + self->at.server.command_timeout());
            while (self->on && self->wake && !self->has_bell) {
                self->has_bell = co_await wait_once(self->at, self->bell, self->on);
                self->ring();
            }
        } catch (const boost::system::system_error&) {
            if (self->on)
                self->on->cut();
            self->on.reset();
        }
        self->waits = false;
        if (!self->wake && self->on)
            self->on->cut();
        self->ring();
    };
    runtime::run_in_background(at.context, loop(state_));
}

wakeup_wait::~wakeup_wait() {
    state_->wake = nullptr;
    if (state_->on)
        state_->on->cut();
}

bool wakeup_wait::is_waiting() const noexcept {
    return state_->waits;
}

std::shared_ptr<pinned_connection> wakeup_wait::rung_on() const noexcept {
    const bool has_it = state_->has_bell && state_->on && !state_->on->is_cut();
    return has_it ? state_->on : nullptr;
}

void wakeup_wait::is_handed_over() noexcept {
    state_->on.reset();
}

namespace {

/// Shortest and longest pause between two polls for one waiter. Each pause is a quarter longer than
/// the one before.
constexpr duration shortest_pause{5};
constexpr duration longest_pause{100};
constexpr duration pause_of_called{250};

/// A poll also includes the waiters that become due within this time.
constexpr duration slack{10};

/// Maximum number of waiters in one SELECT. The next SELECT has the other waiters.
constexpr std::size_t asked_at_once = 200;

} // namespace

/// State that a poller shares with its loop. The loop may live slightly longer than the poller.
class poller::list : public std::enable_shared_from_this<poller::list> {
public:
    explicit list(request_context& at)
        : at_{at}
        , sleep_{at.context.time.make_alarm()} {}

    std::uint64_t add(std::string condition, alarm& wake, poll_frequency how) {
        const duration pause = how == poll_frequency::often ? shortest_pause : pause_of_called;
        waiters_.emplace(
            ++last_, waiter{std::move(condition), &wake, pause, at_.context.time.now() + pause});
        if (std::exchange(running_, true))
            sleep_->ring();
        else
            runtime::run_in_background(at_.context, loop(shared_from_this()));
        return last_;
    }

    void remove(std::uint64_t number) { waiters_.erase(number); }

    void stop() noexcept {
        stopped_ = true;
        waiters_.clear();
        sleep_->ring();
    }

private:
    struct waiter {
        std::string condition;
        alarm* wake;
        duration pause;
        time_point due;
    };

    static asio::awaitable<void> loop(std::shared_ptr<list> self) {
        while (!self->stopped_ && !self->waiters_.empty()) {
            co_await self->sleep_->wait_until(self->next_due());
            if (self->stopped_)
                break;
            const std::vector<std::uint64_t> due = self->take_due();
            if (!due.empty())
                co_await self->poll(due);
        }
        self->running_ = false;
    }

    time_point next_due() const {
        time_point first = time_point::max();
        for (const auto& [number, each] : waiters_)
            first = std::min(first, each.due);
        return first;
    }

    /// Returns the waiters whose next poll is due. The list is empty if a new waiter has woken the
    /// loop before any poll was due.
    std::vector<std::uint64_t> take_due() {
        std::vector<std::uint64_t> due;
        const time_point now = at_.context.time.now();
        if (next_due() > now)
            return due;
        for (auto& [number, each] : waiters_) {
            if (each.due > now + slack || due.size() == asked_at_once)
                continue;
            due.push_back(number);
            each.due = now + jittered(each.pause);
            if (each.pause < longest_pause)
                each.pause = std::min(longest_pause, each.pause * 5 / 4 + duration{1});
        }
        return due;
    }

    /// Shortens the pause at random by up to a fifth, so that not all clients poll at the same
    /// time.
    duration jittered(duration full) {
        const auto fifth = static_cast<std::uint64_t>(full.count()) / 5;
        return full - duration{static_cast<duration::rep>(at_.context.random() % (fifth + 1))};
    }

    asio::awaitable<void> poll(std::vector<std::uint64_t> due) {
        const std::string select = asking(due);
        const auto make = [&](const runtime::remote_clock&, const server_facts&) {
            return std::vector<std::string>{select};
        };
        composing text{make};
        try {
            const answers said = co_await at_.server.run(text);
            for (const auto& row : answer_at(said, 0).rows)
                ring(static_cast<std::uint64_t>(number_at(row, 0)));
        } catch (const boost::system::system_error&) {
            // Ignore the error. Each waiter also makes attempts, and these attempts report the
            // error.
            for (auto& [number, each] : waiters_)
                each.pause = std::max(each.pause, longest_pause);
        }
    }

    std::string asking(const std::vector<std::uint64_t>& due) const {
        std::string all;
        for (const std::uint64_t number : due)
            all.append(all.empty() ? "SELECT " : " UNION ALL SELECT ")
                .append(std::to_string(number))
                .append(" FROM DUAL WHERE ")
                .append(waiters_.at(number).condition);
        return all;
    }

    void ring(std::uint64_t number) {
        if (const auto found = waiters_.find(number); found != waiters_.end())
            found->second.wake->ring();
    }

    request_context& at_;
    const std::unique_ptr<alarm> sleep_;
    std::map<std::uint64_t, waiter> waiters_;
    std::uint64_t last_ = 0;
    bool running_ = false, stopped_ = false;
};

class poller::entry final : public watch {
public:
    entry(std::shared_ptr<list> of, std::uint64_t number)
        : of_{std::move(of)}
        , number_{number} {}
    ~entry() override { of_->remove(number_); }

private:
    const std::shared_ptr<list> of_;
    const std::uint64_t number_;
};

poller::poller(request_context& at)
    : list_{std::make_shared<list>(at)} {}

poller::~poller() {
    stop();
}

std::unique_ptr<watch> poller::enrol(std::string condition, alarm& wake, poll_frequency how) {
    return std::make_unique<entry>(list_, list_->add(std::move(condition), wake, how));
}

void poller::stop() noexcept {
    list_->stop();
}

} // namespace holdfast::mysql
