// SPDX-License-Identifier: Apache-2.0
// What the methods of Redisson's permit-expirable semaphore mean to us. One of its permits is a
// text, several are a list; a lease of ours has all that one call took.
#include "interop/holdfast/counter_calls.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::interop {
namespace {

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

} // namespace holdfast::interop
