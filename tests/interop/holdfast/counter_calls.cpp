// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/counter_calls.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::interop {
namespace {

constexpr const char* semaphores = "getSemaphore";
constexpr const char* latches = "getCountDownLatch";
constexpr const char* permits = "getPermitExpirableSemaphore";
constexpr const char* rates = "getRateLimiter";

counting_semaphore& semaphore_of(const call& of) {
    return std::get<counting_semaphore>(of.at.counter(of.object, of.name));
}
latch& latch_of(const call& of) {
    return std::get<latch>(of.at.counter(of.object, of.name));
}

/// The first argument: how many. Redisson's methods mean one if there is none.
std::int64_t amount(const call& of) {
    return of.lengths.empty() ? 1 : of.lengths[0].count();
}

bool try_to_acquire(const call& of) {
    if (of.lengths.size() < 2)
        return semaphore_of(of).try_acquire(amount(of));
    return semaphore_of(of).try_acquire_for(of.lengths[1], amount(of), of.interrupted);
}

json::value wait(const call& of) {
    if (!of.lengths.empty())
        return latch_of(of).wait_for(of.lengths[0], of.interrupted);
    latch_of(of).wait(of.interrupted);
    return {};
}

/// The second argument, if there is one: after how long it goes away.
bool set_permits(const call& of) {
    if (of.lengths.size() < 2)
        return semaphore_of(of).try_set_permits(amount(of));
    return semaphore_of(of).try_set_permits(amount(of), of.lengths[1]);
}

const calls_by_name& semaphore_calls() {
    static const calls_by_name all{
        {"acquire",
         [](const call& of) {
             return semaphore_of(of).acquire(amount(of), of.interrupted), json::value{};
         }},
        {"tryAcquire", [](const call& of) -> json::value { return try_to_acquire(of); }},
        {"release",
         [](const call& of) { return semaphore_of(of).release(amount(of)), json::value{}; }},
        {"releaseIfExists",
         [](const call& of) -> json::value {
             return semaphore_of(of).release_if_exists(amount(of));
         }},
        {"trySetPermits", [](const call& of) -> json::value { return set_permits(of); }},
        {"addPermits",
         [](const call& of) { return semaphore_of(of).add_permits(amount(of)), json::value{}; }},
        {"drainPermits",
         [](const call& of) -> json::value { return semaphore_of(of).drain_permits(); }},
        {"availablePermits",
         [](const call& of) -> json::value { return semaphore_of(of).available_permits(); }},
        {"delete", [](const call& of) -> json::value { return semaphore_of(of).erase(); }},
    };
    return all;
}

const calls_by_name& latch_calls() {
    static const calls_by_name all{
        {"trySetCount",
         [](const call& of) -> json::value { return latch_of(of).try_set_count(amount(of)); }},
        {"countDown",
         [](const call& of) { return latch_of(of).count_down(amount(of)), json::value{}; }},
        {"getCount", [](const call& of) -> json::value { return latch_of(of).count(); }},
        {"await", wait},
        {"delete", [](const call& of) -> json::value { return latch_of(of).erase(); }},
    };
    return all;
}

} // namespace

bool is_of_counter(const call& of) {
    return of.object == semaphores || of.object == latches || of.object == permits ||
           of.object == rates;
}

json::value answer_of_counter(const call& of) {
    const calls_by_name& all = of.object == latches      ? latch_calls()
                               : of.object == semaphores ? semaphore_calls()
                               : of.object == rates      ? rate_calls()
                                                         : permit_calls();
    const auto found = all.find(of.method);
    if (found == all.end())
        throw std::invalid_argument{"no " + of.method + " of " + of.object + " here"};
    return found->second(of);
}

bool is_asynchronous_of_counter(const std::string& method) {
    return method == "acquireAsync" || method == "tryAcquireAsync" || method == "awaitAsync";
}

void answer_of_counter_later(const call& of, answer_to_call done) {
    if (of.object == permits)
        return answer_of_permits_later(of, std::move(done));
    if (of.object == rates)
        return answer_of_rate_later(of, std::move(done));
    auto ended = on_loop(of, [done](error_code failure) { done(failure, {}); });
    if (of.object == latches)
        latch_of(of).async_wait(std::move(ended));
    else
        semaphore_of(of).async_acquire(amount(of), std::move(ended));
}

namespace {

// What the methods of Redisson's permit-expirable semaphore mean to us. One of its permits is a
// text, several are a list; a lease of ours has all that one call took.

leased_seats& seats_of(const call& of) {
    return std::get<leased_seats>(of.at.counter(of.object, of.name));
}

/// Those words that are no unit of time.
std::vector<std::string> ids_in(const call& of) {
    std::vector<std::string> ids = of.words;
    std::erase(ids, "MILLISECONDS");
    return ids;
}

/// As in Redisson: lengths are those before a unit, and what comes first may be how many.
struct wanted_permits {
    bool are_several = false;
    std::uint32_t count = 1;
    std::vector<duration> lengths{};
};

wanted_permits wanted_by(const call& of) {
    wanted_permits how;
    how.lengths = of.lengths;
    const bool timed = std::ranges::find(of.words, "MILLISECONDS") != of.words.end();
    // acquire(n), acquire(n, lease, unit), tryAcquire(n, timeout, lease, unit); or …Async
    const bool tries = of.method.starts_with("try");
    how.are_several = of.lengths.size() == (!timed ? 1U : tries ? 3U : 2U);
    if (how.are_several) {
        how.count = static_cast<std::uint32_t>(of.lengths.front().count());
        how.lengths.erase(how.lengths.begin());
    }
    return how;
}

/// Its ids, by which the lease is found from now on.
json::value kept(const call& of, lease taken, bool are_several) {
    const std::vector<std::string> ids = taken.permit_ids();
    leased_seats& seats = seats_of(of);
    const std::scoped_lock guard{seats.mutex};
    seats.held.insert_or_assign(ids.at(0), std::move(taken));
    return are_several ? json::value_from(ids) : json::value(ids.at(0));
}

json::value acquire_permits(const call& of) {
    const wanted_permits how = wanted_by(of);
    leased_semaphore& from = seats_of(of).all;
    lease taken = how.lengths.empty()
                      ? from.acquire(how.count, of.interrupted)
                      : from.acquire(lease_time{how.lengths[0]}, how.count, of.interrupted);
    return kept(of, std::move(taken), how.are_several);
}

std::optional<lease> tried(const call& of, const wanted_permits& how) {
    leased_semaphore& from = seats_of(of).all;
    if (how.lengths.empty())
        return from.try_acquire(how.count);
    if (how.lengths.size() == 1)
        return from.try_acquire_for(how.lengths[0], how.count, of.interrupted);
    return from.try_acquire_for(how.lengths[0], lease_time{how.lengths[1]}, how.count,
                                of.interrupted);
}

json::value kept_if_any(const call& of, std::optional<lease> taken, bool are_several) {
    if (!taken)
        return are_several ? json::value(json::array{}) : json::value{};
    return kept(of, std::move(*taken), are_several);
}

json::value try_to_acquire_permits(const call& of) {
    const wanted_permits how = wanted_by(of);
    return kept_if_any(of, tried(of, how), how.are_several);
}

void acquire_permits_later(const call& of, answer_to_call done) {
    const wanted_permits how = wanted_by(of);
    leased_semaphore& from = seats_of(of).all;
    auto keep = on_loop(of, [of, done, several = how.are_several](error_code failure, lease taken) {
        done(failure, failure ? json::value{} : kept(of, std::move(taken), several));
    });
    if (how.lengths.empty())
        from.async_acquire(how.count, std::move(keep));
    else
        from.async_acquire(lease_time{how.lengths[0]}, how.count, std::move(keep));
}

void try_to_acquire_permits_later(const call& of, answer_to_call done) {
    const wanted_permits how = wanted_by(of);
    leased_semaphore& from = seats_of(of).all;
    auto keep = on_loop(
        of, [of, done, several = how.are_several](error_code failure, std::optional<lease> taken) {
            done(failure, failure ? json::value{} : kept_if_any(of, std::move(taken), several));
        });
    const duration timeout = how.lengths.empty() ? duration::zero() : how.lengths[0];
    if (how.lengths.size() < 2)
        from.async_try_acquire_for(timeout, how.count, std::move(keep));
    else
        from.async_try_acquire_for(timeout, lease_time{how.lengths[1]}, how.count, std::move(keep));
}

/// Ours with that first id: it is no more among those that are held.
std::optional<lease> own_lease(const call& of, const std::string& id) {
    leased_seats& seats = seats_of(of);
    const std::scoped_lock guard{seats.mutex};
    const auto found = seats.held.find(id);
    if (found == seats.held.end())
        return {};
    lease own = std::move(found->second);
    seats.held.erase(found);
    return own;
}

/// So many were given back: a lease of ours by its own release, others' permits one by one.
std::int64_t released(const call& of) {
    const std::vector<std::string> ids = ids_in(of);
    if (std::optional<lease> own = own_lease(of, ids.at(0))) {
        error_code failure;
        own->unlock(failure);
        return failure ? 0 : static_cast<std::int64_t>(ids.size());
    }
    return std::ranges::count_if(
        ids, [&](const std::string& each) { return seats_of(of).all.release(each); });
}

json::value try_to_release(const call& of) {
    const std::int64_t count = released(of);
    return ids_in(of).size() == 1 ? json::value(count == 1) : json::value(count);
}

/// Ours alone: whether a lease is believed.
json::value is_believed(const call& of) {
    leased_seats& seats = seats_of(of);
    const std::scoped_lock guard{seats.mutex};
    const auto found = seats.held.find(of.words.at(0));
    return found != seats.held.end() && found->second.owns_lock();
}

} // namespace

const calls_by_name& permit_calls() {
    static const calls_by_name all{
        {"acquire", acquire_permits},
        {"tryAcquire", try_to_acquire_permits},
        {"tryRelease", try_to_release},
        {"isHeld", is_believed},
        {"updateLeaseTime",
         [](const call& of) -> json::value {
             return seats_of(of).all.set_lease(ids_in(of).at(0), lease_time{of.lengths.at(0)});
         }},
        {"trySetPermits",
         [](const call& of) -> json::value {
             return seats_of(of).all.try_set_permits(of.lengths.at(0).count());
         }},
        {"setPermits",
         [](const call& of) {
             return seats_of(of).all.set_permits(of.lengths.at(0).count()), json::value{};
         }},
        {"addPermits",
         [](const call& of) {
             return seats_of(of).all.add_permits(of.lengths.at(0).count()), json::value{};
         }},
        {"availablePermits",
         [](const call& of) -> json::value { return seats_of(of).all.available_permits(); }},
        {"acquiredPermits",
         [](const call& of) -> json::value { return seats_of(of).all.acquired_permits(); }},
        {"delete", [](const call& of) -> json::value { return seats_of(of).all.erase(); }},
    };
    return all;
}

void answer_of_permits_later(const call& of, answer_to_call done) {
    if (of.method == "acquireAsync")
        acquire_permits_later(of, std::move(done));
    else
        try_to_acquire_permits_later(of, std::move(done));
}

namespace {

// Equivalents of the methods of Redisson's rate limiter. Intervals are in milliseconds.

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

/// Returns the configuration in the text form of Redisson's RateLimiterConfig.
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
