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
                                               {.timeout = 0ms},
                                               {.timeout = 20ms},
                                               {.lease = 5s},
                                               {.timeout = 50ms, .lease = 5s, .depth = 2},
                                               {.lease = 30ms, .hold = 60ms}, // may end before
                                               {.cancel = 5ms},
                                               {.lease = 5s, .cancel = 15ms}});
    return turns;
}

const std::vector<turn>& simple_turns() {
    static const std::vector<turn> turns{
        {}, {.timeout = 0ms}, {.timeout = 20ms}, {.lease = 5s}, {.timeout = 50ms, .lease = 5s}};
    return turns;
}

const std::vector<turn>& fair_turns() {
    static const std::vector<turn> turns{{.timeout = in_queue},
                                         {.timeout = in_queue},
                                         {.timeout = 0ms},
                                         {.timeout = 20ms},
                                         {.timeout = in_queue, .lease = 5s},
                                         {.timeout = in_queue, .lease = 30ms, .hold = 60ms}};
    return turns;
}

const std::vector<turn>& writers_turns() {
    static const std::vector<turn> turns{{},
                                         {.depth = 2},
                                         {.timeout = 20ms},
                                         {.timeout = 50ms, .lease = 5s},
                                         {.downgrade = true},
                                         {.timeout = 50ms, .downgrade = true}};
    return turns;
}

/// Nobody waits for ever: what a killed one took is missing until it is made good.
const std::vector<turn>& visitors_turns() {
    static const std::vector<turn> turns{{.timeout = 500ms},
                                         {.timeout = 500ms, .depth = 2},
                                         {.timeout = 0ms},
                                         {.timeout = 20ms, .depth = 3}};
    return turns;
}

const std::vector<turn>& tenants_turns() {
    static const std::vector<turn> turns{{.timeout = 500ms, .lease = 5s},
                                         {.timeout = 0ms, .lease = 5s},
                                         {.timeout = 20ms, .lease = 5s},
                                         {.timeout = 500ms, .lease = 30ms, .hold = 60ms}};
    return turns;
}

/// So few wait for long that the others are enough to open it.
const std::vector<turn>& comers_turns() {
    static const std::vector<turn> turns{{.timeout = 5s, .depth = 5, .rest = latches_rest},
                                         {.timeout = 5s, .depth = 5, .rest = latches_rest},
                                         {.timeout = 50ms, .depth = 5, .rest = latches_rest}};
    return turns;
}

const std::vector<turn>& spenders_turns() {
    static const std::vector<turn> turns{{.timeout = 0ms},
                                         {.timeout = 20ms, .depth = 2},
                                         {.timeout = 500ms},
                                         {.timeout = 500ms, .depth = 3}};
    return turns;
}

struct kind {
    const char* object;
    std::string suffix;
    int major, minor; ///< of the first version that has it
    std::vector<turn> turns;
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
        {"getCountDownLatch", met_at, 3, 13, comers_turns()}};
    return all;
}

/// Which a guest has in its own form.
std::vector<kind> kinds_in_form(const std::optional<std::string>& form) {
    return {{"getPermitExpirableSemaphore", leased + in_form(form), 3, 13, tenants_turns()},
            {"getRateLimiter", rated + in_form(form), 3, 13, spenders_turns()}};
}

/// Waits that only ours can call off, and leases that only ours renew.
std::vector<turn> turns_of_ours(const std::vector<kind>& with_forms) {
    std::vector<turn> all = at("getSemaphore", seats, {{.depth = 2, .cancel = 10ms}});
    const auto add = [&](const std::string& object, const std::string& suffix, const turn& how) {
        all.push_back(at(object, suffix, {how}).front());
    };
    add("getCountDownLatch", met_at, {.depth = 5, .cancel = 20ms, .rest = latches_rest});
    add(with_forms[0].object, with_forms[0].suffix, {.timeout = 500ms});
    add(with_forms[1].object, with_forms[1].suffix, {.depth = 2, .cancel = 10ms});
    return all;
}

} // namespace

std::string in_form(const std::optional<std::string>& form) {
    return form ? ":" + *form : "";
}

std::vector<turn> stress_turns(const guest& who) {
    const std::string& redisson = who.kind.redisson;
    const std::vector<kind> with_forms = kinds_in_form(who.form);
    std::vector<kind> has = kinds();
    has.insert(has.end(), with_forms.begin(), with_forms.end());
    std::vector<turn> all = redisson.empty() ? turns_of_ours(with_forms) : std::vector<turn>{};
    for (const kind& each : has)
        if (redisson.empty() || is_at_least(redisson, each.major, each.minor))
            for (const turn& way : at(each.object, each.suffix, each.turns))
                all.push_back(way);
    return all;
}

std::vector<turn> turns_through_failover() {
    std::vector<turn> all;
    const auto add = [&](const std::string& object, const std::string& suffix,
                         const std::vector<turn>& ways) {
        for (const turn& way : at(object, suffix, ways))
            all.push_back(way);
    };
    constexpr duration long_hold{300};
    add("getLock", "", simple_turns());
    add("getLock", "", {{.hold = long_hold}});
    add("getFairLock", ":fair", {{.timeout = in_queue}, {.timeout = 0ms}});
    add("getReadWriteLock/readLock", ":shared", simple_turns());
    add("getReadWriteLock/writeLock", ":shared", {{}, {.timeout = 20ms}, {.hold = long_hold}});
    return all;
}

client_settings stress_settings(const guest& who) {
    // Polls: a JVM that gives up just when it is its turn tells nobody whose turn it is then. What
    // is behind: for how long the queue of a fair lock stands still for whoever was killed in it.
    return {.lease_time = 5s,
            .poll_bound = 500ms,
            .unavailable_timeout = 2s,
            .command_timeout = 2s,
            .waiter_timeout = 8s,
            .fair_wait = in_queue,
            .redisson_form = who.form};
}

} // namespace holdfast::interop
