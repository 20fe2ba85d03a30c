// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/worker.hpp"

#include "sync/lease_validity.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cerrno>
#include <chrono>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::interop {

history_writer::history_writer(const std::string& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)} {
    if (file_ < 0)
        throw std::system_error{errno, std::generic_category(), path};
}

history_writer::~history_writer() {
    ::close(file_);
}

void history_writer::write(const std::string& what) {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    const std::string line = std::to_string(now.count()) + " " + what + "\n";
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::system_error{errno, std::generic_category(), "history"};
}

namespace {

duration length(const json::value& all, const char* which) {
    return duration{all.at(which).to_number<std::int64_t>()};
}

turn turn_of(const json::value& all) {
    return {length(all, "patience"),
            length(all, "lease"),
            length(all, "hold"),
            length(all, "pause"),
            all.at("depth").to_number<std::int64_t>(),
            length(all, "cancel"),
            json::value_to<std::string>(all.at("object")),
            json::value_to<std::string>(all.at("suffix")),
            all.at("downgrade").as_bool(),
            length(all, "rest")};
}

void enter(basic_mutex& lock, duration lease, std::stop_token cancel = {}) {
    if (lease > duration::zero())
        lock.lock(lease_time{lease}, std::move(cancel));
    else
        lock.lock(std::move(cancel));
}

/// False: it was not ours any more. `goes_on`: what is not answered in `release_timeout`, which is
/// shorter than a failover, is asked again behind us.
bool released(basic_mutex& lock, bool goes_on) {
    error_code failure;
    lock.unlock(failure);
    const bool is_repeated = failure == errc::unreachable || failure == errc::outcome_unknown;
    if (failure && failure != errc::lease_lost && !(goes_on && is_repeated))
        throw boost::system::system_error{failure};
    return failure != errc::lease_lost;
}

} // namespace

duration worker::sure_for(duration lease) {
    return lease > duration::zero() ? lease - sync::margin(lease) - duration{1} : lease;
}

work work_of(const json::object& described) {
    work what{described.at("threads").to_number<std::size_t>(),
              json::value_to<std::vector<std::string>>(described.at("names")),
              {},
              json::value_to<std::string>(described.at("history")),
              described.at("seed").to_number<std::uint64_t>(),
              described.at("goes_on").as_bool()};
    for (const json::value& each : described.at("turns").as_array())
        what.turns.push_back(turn_of(each));
    return what;
}

worker::worker(home& at, const work& what, std::size_t number)
    : home_{at}
    , what_{what}
    , history_{what.history + "." + std::to_string(number)}
    , random_{what.seed + number} {}

std::int64_t worker::turns() {
    thread_.join();
    if (ended_by_)
        std::rethrow_exception(ended_by_);
    return turns_;
}

void worker::run(const std::stop_token& over) try {
    for (; !over.stop_requested(); ++turns_) {
        const turn& how = what_.turns[random_() % what_.turns.size()];
        const std::string name = what_.names[random_() % what_.names.size()] + how.suffix;
        if (!take_turn_at_counter(how, name))
            take(how, name);
        std::this_thread::sleep_for(up_to(how.pause));
    }
} catch (const std::exception& failure) {
    history_.write(std::string{"failed "} + failure.what());
    ended_by_ = std::current_exception();
}

void worker::take(const turn& how, const std::string& name) {
    basic_mutex& lock = home_.side(how.object, name);
    history_.write("asks " + name + " " + std::to_string(sure_for(how.lease).count()));
    if (!in_time(how, [&] { return acquired(lock, how); }))
        return history_.write("gives-up " + name);
    tell_of(how, name);
    for (int entry = 1; entry < how.depth; ++entry)
        enter(lock, how.lease);
    std::this_thread::sleep_for(up_to(how.hold));
    for (int entry = 1; entry < how.depth; ++entry)
        lock.unlock();
    history_.write((released(how, name) ? "left " : "lost ") + name);
}

void worker::tell_of(const turn& how, const std::string& name) {
    history_.write((how.object.ends_with("readLock") ? "shares " : "holds ") + name);
    if (how.object == "getFencedLock") {
        const auto& lock = std::get<fenced_mutex>(home_.lock(how.object, name));
        history_.write("token " + name + " " + std::to_string(lock.fencing_token()));
    }
}

bool worker::released(const turn& how, const std::string& name) {
    basic_mutex* held = &home_.side(how.object, name);
    if (how.downgrade) {
        basic_mutex& reading = home_.side("getReadWriteLock/readLock", name);
        reading.lock();
        history_.write("shares " + name);
        held->unlock();
        held = &reading;
        std::this_thread::sleep_for(up_to(how.hold));
    }
    history_.write("leaves " + name);
    return interop::released(*held, what_.goes_on);
}

// On a busy machine a lease of some milliseconds ends before its grant arrives. After three such
// grants in a row the call fails with `unreachable`.
bool worker::in_time(const turn& how, const std::function<bool()>& acquire) {
    try {
        return acquire();
    } catch (const boost::system::system_error& failure) {
        const bool is_short = how.lease > duration::zero() && how.lease < std::chrono::seconds{1};
        const bool ended = (is_short && failure.code() == errc::unreachable) ||
                           (how.lease > duration::zero() && failure.code() == errc::lease_lost);
        const bool may_fail = what_.goes_on && how.timeout >= duration::zero();
        if (!ended && !may_fail)
            throw;
        return false;
    }
}

bool worker::acquired(basic_mutex& lock, const turn& how) {
    if (how.cancel >= duration::zero())
        return unless_cancelled(
            how, [&](std::stop_token cancel) { enter(lock, how.lease, std::move(cancel)); });
    if (how.timeout < duration::zero())
        return enter(lock, how.lease), true;
    if (how.lease > duration::zero())
        return lock.try_lock_for(how.timeout, lease_time{how.lease});
    return lock.try_lock_for(how.timeout);
}

bool worker::unless_cancelled(const turn& how,
                              const std::function<void(std::stop_token)>& acquire) {
    std::stop_source cancel;
    asio::steady_timer later{home_.loop(), how.cancel};
    later.async_wait([cancel](const error_code& gone) mutable {
        if (!gone)
            cancel.request_stop();
    });
    try {
        acquire(cancel.get_token());
        return true;
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != asio::error::operation_aborted)
            throw;
        return false;
    }
}

duration worker::up_to(duration most) {
    const auto choices = static_cast<std::uint64_t>(most.count()) + 1;
    return duration{static_cast<duration::rep>(random_() % choices)};
}

crew::crew(home& at, const work& what) {
    for (std::size_t i = 0; i < what.threads; ++i)
        workers_.push_back(std::make_unique<worker>(at, what, i));
}

std::int64_t crew::stop() {
    for (const auto& each : workers_)
        each->stop();
    std::int64_t turns = 0;
    for (const auto& each : workers_)
        turns += each->turns();
    return turns;
}

namespace {

// A worker's turns at what is counted.

/// All processes share this clock, so nobody sets a latch while it rests: it stays open for a
/// while, and whoever still waits then was forgotten.
bool rests(duration stretch) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return stretch > duration::zero() && now / stretch % 2 == 1;
}

} // namespace

bool worker::take_turn_at_counter(const turn& how, const std::string& name) {
    using turn_at = void (worker::*)(const turn&, const std::string&);
    static const std::map<std::string, turn_at> turns{
        {"getSemaphore", &worker::draw},
        {"getPermitExpirableSemaphore", &worker::rent},
        {"getRateLimiter", &worker::spend},
        {"getCountDownLatch", &worker::meet}};
    const auto found = turns.find(how.object);
    if (found != turns.end())
        (this->*found->second)(how, name);
    return found != turns.end();
}

template <typename Counter>
bool worker::drawn(Counter& from, const turn& how) {
    if (how.cancel >= duration::zero())
        return unless_cancelled(
            how, [&](std::stop_token cancel) { from.acquire(how.depth, std::move(cancel)); });
    return from.try_acquire_for(how.timeout, how.depth);
}

void worker::draw(const turn& how, const std::string& name) {
    auto& seats = std::get<counting_semaphore>(home_.counter(how.object, name));
    history_.write("asks " + name + " 0 " + std::to_string(how.depth));
    if (!drawn(seats, how))
        return history_.write("gives-up " + name);
    history_.write("shares " + name);
    std::this_thread::sleep_for(up_to(how.hold));
    history_.write("leaves " + name);
    seats.release(how.depth);
    history_.write("left " + name);
}

/// Takes one permit with a lease.
void worker::rent(const turn& how, const std::string& name) {
    leased_semaphore& seats = std::get<leased_seats>(home_.counter(how.object, name)).all;
    history_.write("asks " + name + " " + std::to_string(sure_for(how.lease).count()) + " 1");
    std::optional<lease> seat;
    const auto acquire = [&] {
        seat = how.lease > duration::zero()
                   ? seats.try_acquire_for(how.timeout, lease_time{how.lease})
                   : seats.try_acquire_for(how.timeout);
        return seat.has_value();
    };
    if (!in_time(how, acquire))
        return history_.write("gives-up " + name);
    history_.write("shares " + name);
    std::this_thread::sleep_for(up_to(how.hold));
    history_.write("leaves " + name);
    error_code failure;
    seat->unlock(failure);
    history_.write((failure == errc::lease_lost ? "lost " : "left ") + name);
}

/// Nobody gives back what was drawn from a rate limiter.
void worker::spend(const turn& how, const std::string& name) {
    auto& limiter = std::get<rate_limiter>(home_.counter(how.object, name));
    history_.write("draws " + name + " " + std::to_string(how.depth));
    history_.write((drawn(limiter, how) ? "drew " : "gives-up ") + name);
}

/// Each worker sets the latch if it is open, counts it down and waits for the other workers.
void worker::meet(const turn& how, const std::string& name) {
    auto& gate = std::get<latch>(home_.counter(how.object, name));
    if (!rests(how.rest)) {
        history_.write("sets " + name + " " + std::to_string(how.depth));
        history_.write((gate.try_set_count(how.depth) ? "set " : "gives-up ") + name);
    }
    history_.write("counts-down " + name);
    gate.count_down();
    history_.write("counted-down " + name);
    const auto wait = [&](std::stop_token cancel) { gate.wait(std::move(cancel)); };
    history_.write("waits " + name);
    const bool passed =
        how.cancel >= duration::zero() ? unless_cancelled(how, wait) : gate.wait_for(how.timeout);
    history_.write((passed ? "passed " : "gives-up ") + name);
}

} // namespace holdfast::interop
