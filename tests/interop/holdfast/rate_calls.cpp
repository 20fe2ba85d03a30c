// SPDX-License-Identifier: Apache-2.0
// What the methods of Redisson's rate limiter mean to us. Intervals are in milliseconds.
#include "interop/holdfast/counter_calls.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

rate_limiter& limiter_of(const call& of) {
    return std::get<rate_limiter>(of.at.counter(of.object, of.name));
}

bool says(const call& of, const char* word) {
    return std::ranges::find(of.words, word) != of.words.end();
}

/// trySetRate(mode, rate, interval, unit), trySetRate(mode, rate, interval, kept)
rate rate_in(const call& of) {
    return {.permits = of.lengths.at(0).count(),
            .per = of.lengths.at(1),
            .scope = says(of, "PER_CLIENT") ? rate::scope_of::per_client : rate::scope_of::overall,
            .kept = of.lengths.size() > 2 ? of.lengths[2] : duration::zero()};
}

std::int64_t wanted_of(const call& of) {
    return of.lengths.empty() ? 1 : of.lengths[0].count();
}

/// tryAcquire(), tryAcquire(n), tryAcquire(n, timeout, unit)
json::value try_to_draw(const call& of) {
    if (of.lengths.size() < 2)
        return limiter_of(of).try_acquire(wanted_of(of));
    return limiter_of(of).try_acquire_for(of.lengths[1], wanted_of(of), of.interrupted);
}

/// As a JVM's RateLimiterConfig is written.
json::value config_of(const call& of) {
    const std::optional<rate> now = limiter_of(of).current_rate();
    if (!now)
        return {};
    const bool by_client = now->scope == rate::scope_of::per_client;
    return json::object{{"rateType", by_client ? "PER_CLIENT" : "OVERALL"},
                        {"rateInterval", now->per.count()},
                        {"rate", now->permits}};
}

} // namespace

const calls_by_name& rate_calls() {
    static const calls_by_name all{
        {"trySetRate",
         [](const call& of) -> json::value { return limiter_of(of).try_set_rate(rate_in(of)); }},
        {"setRate",
         [](const call& of) { return limiter_of(of).set_rate(rate_in(of)), json::value{}; }},
        {"acquire",
         [](const call& of) {
             return limiter_of(of).acquire(of.lengths.at(0).count(), of.interrupted), json::value{};
         }},
        {"tryAcquire", try_to_draw},
        {"release",
         [](const call& of) {
             return limiter_of(of).release(of.lengths.at(0).count()), json::value{};
         }},
        {"getConfig", config_of},
        {"availablePermits",
         [](const call& of) -> json::value { return limiter_of(of).available_permits(); }},
        {"delete", [](const call& of) -> json::value { return limiter_of(of).erase(); }},
    };
    return all;
}

/// acquireAsync(n), tryAcquireAsync(n), tryAcquireAsync(n, timeout, unit)
void answer_of_rate_later(const call& of, answer_to_call done) {
    if (of.method == "acquireAsync") {
        auto ended = on_loop(of, [done](error_code failure) { done(failure, {}); });
        return limiter_of(of).async_acquire(wanted_of(of), std::move(ended));
    }
    auto tried = on_loop(of, [done](error_code failure, bool drawn) { done(failure, drawn); });
    const duration timeout = of.lengths.size() < 2 ? duration::zero() : of.lengths[1];
    limiter_of(of).async_try_acquire_for(timeout, wanted_of(of), std::move(tried));
}

} // namespace holdfast::interop
