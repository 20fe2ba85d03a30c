// SPDX-License-Identifier: Apache-2.0
// A worker's turns at what is counted.
#include "interop/holdfast/worker.hpp"

#include <map>

namespace holdfast::interop {
namespace {

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

/// One permit, under a lease.
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

/// Whoever comes sets it if it is open, counts it down and waits for the others.
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
