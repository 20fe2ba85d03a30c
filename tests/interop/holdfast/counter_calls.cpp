// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/counter_calls.hpp"

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

} // namespace holdfast::interop
