// SPDX-License-Identifier: Apache-2.0
// Of locks.
#include "migrating_scripts.hpp"
#include "store/redis/scripts.hpp"

namespace holdfast::migrating {
namespace {

namespace scripts = redis::scripts;
using words = std::vector<std::string>;
using trials = std::vector<trial>;

const std::string alice = "aaaaaaaa-0000-8fd5-8000-000000000001:1";
const std::string bob = "aaaaaaaa-0000-8fd5-8000-000000000001:2";
const std::string carol = "bbbbbbbb-0000-4000-8000-000000000002:3"; // a JVM's
const std::string channel = "redisson_lock__channel:{L}";

const words no_end{"PEXPIRE", "L", "60000"};

std::string timer(const std::string& owner) {
    return "{L}:" + owner + ":rwlock_timeout:1";
}

trial plain(const std::string& about, const redis::script& what, std::vector<words> before,
            words arguments) {
    return {about, &what, std::move(before), {"L"}, std::move(arguments)};
}

const words fair_keys{"L", "redisson_lock_queue:{L}", "redisson_lock_timeout:{L}"};
const std::string marks = "holdfast_writers:{L}";

words fair_ask(const std::string& owner, const std::string& waits) {
    return {"30000", owner, "0", channel, "SPUBLISH", waits, "20000", "300000"};
}

std::vector<words> fair_before(const std::string& holder, const words& queue,
                               const std::string& lasts) {
    std::vector<words> all;
    if (!holder.empty()) {
        all.push_back({"HSET", "L", holder, "1"});
        all.push_back(no_end);
    }
    for (const std::string& each : queue) {
        all.push_back({"RPUSH", fair_keys[1], each});
        all.push_back({"ZADD", fair_keys[2], lasts, each});
    }
    return all;
}

/// Readers, each with its timer if it lives; a writer among them by its field; marks.
std::vector<words> shared_before(const std::string& mode, const words& fields, const words& alive,
                                 bool marked, const std::string& marker = bob) {
    std::vector<words> all{{"HSET", "L", "mode", mode}, no_end};
    for (const std::string& each : fields)
        all.push_back({"HSET", "L", each, "1"});
    for (const std::string& each : alive)
        all.push_back({"SET", timer(each), "1", "PX", "50000"});
    if (marked) {
        all.push_back({"HSET", marks, marker, "1 - 15000"});
        all.push_back({"PEXPIRE", marks, "40000"});
    }
    return all;
}

trial read(const std::string& about, std::vector<words> before, const std::string& owner) {
    return {about,
            &scripts::lock_read,
            std::move(before),
            {"L", timer(owner), marks},
            {"30000", owner, "0", ""}};
}
trial write(const std::string& about, std::vector<words> before, const std::string& owner,
            const std::string& beside = {}) {
    return {about,
            &scripts::lock_write,
            std::move(before),
            {"L", marks},
            {"30000", owner, "0", beside, "{L}", "5000", "150"}};
}
trial end_read(const std::string& about, std::vector<words> before, const std::string& owner) {
    return {about,
            &scripts::release_read,
            std::move(before),
            {"L", timer(owner), marks},
            {owner, "{L}", "redisson_rwlock:{L}", "SPUBLISH"}};
}
trial end_write(const std::string& about, std::vector<words> before, const std::string& owner) {
    return {about,
            &scripts::release_write,
            std::move(before),
            {"L", marks},
            {owner, "{L}", "redisson_rwlock:{L}", "SPUBLISH"}};
}

trials plain_trials() {
    const std::vector<words> of_alice{{"HSET", "L", alice, "1"}, no_end};
    const std::vector<words> token{{"SET", "L", alice, "PX", "60000"}};
    const words ask{"30000", alice, "0"};
    const std::string counter = "redisson_lock_token:{L}";
    const auto and_counter = [&](std::vector<words> more) {
        more.push_back({"SET", counter, "7"});
        return more;
    };
    return {
        plain("a free lock", scripts::lock_mutex, {}, ask),
        plain("a held lock", scripts::lock_mutex, of_alice, ask),
        plain("another's lock", scripts::lock_mutex, of_alice, {"30000", bob, "0"}),
        plain("a release", scripts::release_mutex, of_alice, {alice, channel, "SPUBLISH"}),
        plain("a renewal", scripts::renew_leases, of_alice, {"90000", "", alice}),
        plain("a free token", scripts::lock_token, {}, ask),
        plain("a held token", scripts::lock_token, token, ask),
        plain("a token's release", scripts::release_token, token, {alice, channel, "SPUBLISH"}),
        plain("a token's renewal", scripts::renew_tokens, token, {"90000", "", alice}),
        {"a free fenced lock",
         &scripts::lock_fenced,
         and_counter({}),
         {"L", counter},
         {"30000", alice, "0", "1", "0"}},
        {"a held fenced lock",
         &scripts::lock_fenced,
         and_counter(of_alice),
         {"L", counter},
         {"30000", alice, "0", "9", "0"}},
        {"a new fenced lock",
         &scripts::lock_fenced,
         {},
         {"L", counter},
         {"30000", alice, "0", "1", "0"}},
    };
}

trials fair_trials() {
    return {
        {"a free fair lock", &scripts::lock_fair, {}, fair_keys, fair_ask(alice, "1")},
        {"one's own turn", &scripts::lock_fair, fair_before("", {alice, bob}, "+20000"), fair_keys,
         fair_ask(alice, "1")},
        {"a new place", &scripts::lock_fair, fair_before(carol, {alice}, "+20000"), fair_keys,
         fair_ask(bob, "1")},
        {"a place behind one that is over", &scripts::lock_fair,
         fair_before(carol, {alice, bob}, "-20000"), fair_keys, fair_ask(bob, "1")},
        {"a turn when all before are over", &scripts::lock_fair, fair_before("", {alice}, "-20000"),
         fair_keys, fair_ask(bob, "1")},
        {"a fair release",
         &scripts::release_fair,
         fair_before(alice, {bob}, "+20000"),
         fair_keys,
         {alice, channel, "SPUBLISH", "300000"}},
        {"leaving the queue as the only one",
         &scripts::release_fair,
         fair_before(carol, {alice}, "+20000"),
         fair_keys,
         {alice, channel, "SPUBLISH", "300000"}},
        {"a forced release",
         &scripts::force_lock,
         fair_before(alice, {bob, carol}, "+20000"),
         {"L"},
         {"0", "", "SPUBLISH", channel, "redisson_rwlock:{L}", fair_keys[1], fair_keys[2]},
         true},
    };
}

trials shared_trials() {
    const std::string write_of_alice = alice + ":write";
    return {
        read("a first read", {}, alice),
        read("a read beside another", shared_before("read", {bob}, {bob}, false), alice),
        read("a read again", shared_before("read", {alice, bob}, {alice, bob}, true), alice),
        read("a read that is kept back", shared_before("read", {bob}, {bob}, true), alice),
        write("a first write", {}, alice),
        write("a write beside a reader", shared_before("read", {bob}, {bob}, true), alice),
        write("a write where a reader died", shared_before("read", {bob}, {}, true), alice),
        write("a write on top", shared_before("read", {alice}, {alice}, true), alice, alice),
        write("a write on top, beside another",
              shared_before("read", {alice, bob}, {alice, bob}, false), alice, alice),
        end_read("the last read", shared_before("read", {alice}, {alice}, true), alice),
        end_read("one read of two", shared_before("read", {alice, bob}, {alice, bob}, false),
                 alice),
        end_read("one read of two, before a writer",
                 shared_before("read", {alice, bob}, {alice, bob}, true), alice),
        end_read("a read beside one that died", shared_before("read", {alice, bob}, {alice}, true),
                 alice),
        end_read("a read under a write",
                 shared_before("write", {alice, write_of_alice}, {alice}, false), alice),
        end_write("a write", shared_before("write", {write_of_alice}, {}, false), alice),
        end_write("a write with the last mark",
                  shared_before("write", {write_of_alice}, {}, true, alice), alice),
        end_write("a write on top of reads",
                  shared_before("write", {alice, bob, write_of_alice}, {alice, bob}, false), alice),
        end_write("a mark", shared_before("read", {bob}, {bob}, true, alice), alice),
        {"reads' renewal",
         &scripts::renew_reads,
         shared_before("read", {alice, bob}, {alice, bob}, true),
         {"L", timer(alice), "L", timer(bob)},
         {"90000", "", alice, bob}},
    };
}

} // namespace

trials trials_of_locks() {
    trials all = plain_trials();
    for (const trials& some : {fair_trials(), shared_trials()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

} // namespace holdfast::migrating
