// SPDX-License-Identifier: Apache-2.0
#include "interop/stress_turns.hpp"

#include "interop/meeting.hpp"

namespace holdfast::interop {
namespace {

/// How long a JVM waits in the queue of a fair lock, which all of its waits there are told: so long
/// it keeps the others waiting if it is killed. Older versions have no setting for that.
constexpr duration in_queue = 3s;

std::vector<turn> at(const std::string& object, const std::string& suffix,
                     std::vector<turn> turns) {
    for (turn& each : turns) {
        each.object = object;
        each.suffix = suffix;
        each.pause = 3ms;
        if (each.hold == duration::zero())
            each.hold = 3ms;
    }
    return turns;
}

const std::vector<turn>& plain_turns() {
    static const std::vector<turn> turns = at("getLock", "",
                                              {{},
                                               {},
                                               {.depth = 3},
                                               {.patience = 0ms},
                                               {.patience = 20ms},
                                               {.lease = 5s},
                                               {.patience = 50ms, .lease = 5s, .depth = 2},
                                               {.lease = 30ms, .hold = 60ms}, // may end before
                                               {.cancel = 5ms},
                                               {.lease = 5s, .cancel = 15ms}});
    return turns;
}

const std::vector<turn>& simple_turns() {
    static const std::vector<turn> turns{
        {}, {.patience = 0ms}, {.patience = 20ms}, {.lease = 5s}, {.patience = 50ms, .lease = 5s}};
    return turns;
}

const std::vector<turn>& fair_turns() {
    static const std::vector<turn> turns{{.patience = in_queue},
                                         {.patience = in_queue},
                                         {.patience = 0ms},
                                         {.patience = 20ms},
                                         {.patience = in_queue, .lease = 5s},
                                         {.patience = in_queue, .lease = 30ms, .hold = 60ms}};
    return turns;
}

const std::vector<turn>& writers_turns() {
    static const std::vector<turn> turns{{},
                                         {.depth = 2},
                                         {.patience = 20ms},
                                         {.patience = 50ms, .lease = 5s},
                                         {.downgrade = true},
                                         {.patience = 50ms, .downgrade = true}};
    return turns;
}

/// Nobody waits for ever: what a killed one took is missing until it is made good.
const std::vector<turn>& visitors_turns() {
    static const std::vector<turn> turns{{.patience = 500ms},
                                         {.patience = 500ms, .depth = 2},
                                         {.patience = 0ms},
                                         {.patience = 20ms, .depth = 3}};
    return turns;
}

const std::vector<turn>& tenants_turns() {
    static const std::vector<turn> turns{{.patience = 500ms, .lease = 5s},
                                         {.patience = 0ms, .lease = 5s},
                                         {.patience = 20ms, .lease = 5s},
                                         {.patience = 500ms, .lease = 30ms, .hold = 60ms}};
    return turns;
}

struct kind {
    const char *object, *suffix;
    int major, minor; ///< of the first version that has it
    const std::vector<turn>& turns;
};

const std::vector<kind>& kinds() {
    static const std::vector<kind> all{
        {"getLock", "", 3, 13, plain_turns()},
        {"getNonReentrantLock", ":once", 4, 4, simple_turns()},
        {"getSpinLock", ":spin", 3, 15, simple_turns()},
        {"getFencedLock", ":fenced", 3, 19, simple_turns()},
        {"getFairLock", ":fair", 3, 13, fair_turns()},
        {"getNonReentrantFairLock", ":fair", 4, 4, fair_turns()},
        {"getReadWriteLock/readLock", ":shared", 3, 13, simple_turns()},
        {"getReadWriteLock/writeLock", ":shared", 3, 13, writers_turns()},
        {"getSemaphore", seats, 3, 13, visitors_turns()},
        {"getPermitExpirableSemaphore", leased, 3, 17, tenants_turns()}}; // older ids are texts
    return all;
}

} // namespace

std::vector<turn> stress_turns(const std::string& redisson) {
    std::vector<turn> all;
    for (const kind& each : kinds())
        if (redisson.empty() || is_at_least(redisson, each.major, each.minor))
            for (const turn& way : at(each.object, each.suffix, each.turns))
                all.push_back(way);
    if (redisson.empty())
        for (const turn& way : at("getSemaphore", seats, {{.depth = 2, .cancel = 10ms}}))
            all.push_back(way);
    if (redisson.empty())
        for (const turn& way : at("getPermitExpirableSemaphore", leased, {{.patience = 500ms}}))
            all.push_back(way); // renewed
    return all;
}

client_settings stress_settings() {
    // Polls: a JVM that gives up just when it is its turn tells nobody whose turn it is then. What
    // is behind: for how long the queue of a fair lock stands still for whoever was killed in it.
    return {.lease_time = 5s,
            .poll_bound = 500ms,
            .unavailable_patience = 2s,
            .command_timeout = 2s,
            .waiter_patience = 8s,
            .fair_wait = in_queue};
}

} // namespace holdfast::interop
