// SPDX-License-Identifier: Apache-2.0
#include "migrating_scripts.hpp"

#include "redis/client/error_replies.hpp"
#include "store/redis/scripts.hpp"
#include "support/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>

namespace holdfast::migrating {
namespace {

using kind = redis::reply::kind;
using words = std::vector<std::string>;

/// Digits that a clock or an end made.
std::string masked(const std::string& text) {
    std::string out, digits;
    const auto flush = [&] {
        out += digits.size() > 4 ? "#" : digits;
        digits.clear();
    };
    for (const char each : text) {
        if (std::isdigit(static_cast<unsigned char>(each))) {
            digits += each;
            continue;
        }
        flush();
        out += each;
    }
    flush();
    return out;
}

} // namespace

std::vector<std::string> dated(std::vector<std::string> words) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    for (std::string& each : words)
        if (each.size() > 1 && (each[0] == '+' || each[0] == '-') && words[0] == "ZADD")
            each = std::to_string(now + std::stoll(each));
    return words;
}

std::string in_words(const redis::reply& said) {
    switch (said.type) {
    case kind::integer:
        return masked(std::to_string(said.integer));
    case kind::array: {
        std::string all = "{";
        for (const redis::reply& each : said.items)
            all += in_words(each) + " ";
        return all + "}";
    }
    default:
        return masked(said.text);
    }
}

std::string describe(support::redis_server& server, const std::string& key) {
    const auto ask = [&server](const words& what) {
        server.command({"ASKING"}); // it may have it only for who says so
        return server.command(what);
    };
    const std::string type = ask({"TYPE", key}).text;
    const bool ends = ask({"PTTL", key}).integer >= 0;
    redis::reply content;
    if (type == "string")
        content = ask({"GET", key});
    else if (type == "list")
        content = ask({"LRANGE", key, "0", "-1"});
    else if (type == "hash")
        content = ask({"HGETALL", key});
    else
        content = ask({"ZRANGE", key, "0", "-1"});
    std::vector<std::string> parts;
    const std::size_t step = type == "hash" ? 2 : 1;
    for (std::size_t i = 0; i + step <= content.items.size(); i += step) {
        parts.push_back(in_words(content.items[i]));
        if (step == 2)
            parts.back() += "=" + in_words(content.items[i + 1]);
    }
    if (type != "list")
        std::ranges::sort(parts);
    std::string all = type + (ends ? ", with an end: " : ": ") + masked(content.text);
    for (const std::string& each : parts)
        all += each + " ";
    return all;
}

bool is_about_the_place(const std::string& error) {
    return redis::classify(error) == store_errc::try_again || redis::tells_of_absence(error);
}

std::vector<std::string> all_scripts() {
    std::vector<std::string> all;
    for (const auto& each :
         std::filesystem::directory_iterator{support::source_file("src/store/redis/scripts")})
        if (each.path().extension() == ".lua")
            all.push_back(each.path().stem().string());
    return all;
}

namespace {

// Scripts of locks.

namespace scripts = redis::scripts;
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

/// The script has no key but the lock, and may miss a queue that is at the other server. Then it
/// does without the queue.
const std::string waiting = "holdfast_waiting:{L}";

trial beside_queue(const std::string& about, const redis::script& what, std::vector<words> before,
                   words arguments) {
    before.push_back({"ZADD", waiting, "1024", carol});
    trial made = plain(about, what, std::move(before), std::move(arguments));
    made.may_miss_what_it_cannot_see = true;
    return made;
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
        plain("a ticket", scripts::move_hold, of_alice, {"90000", alice, carol, "0"}),
        plain("a ticket of a token", scripts::move_token, token, {"90000", alice, carol, "0"}),
        {"a wish",
         &scripts::ask_holders,
         of_alice,
         {"L", "holdfast_asked:{L}"},
         {"why", "host:1", "60000", "SPUBLISH", "holdfast_asked:{L}"}},
        beside_queue("a free lock and a queue", scripts::lock_in_queue, {},
                     {"30000", alice, "0", "1", "10000", waiting}),
        beside_queue("another's lock and a queue", scripts::lock_in_queue, of_alice,
                     {"30000", bob, "0", "1", "10000", waiting}),
        beside_queue("a release to a queue", scripts::release_to_queue, of_alice,
                     {alice, channel, waiting, "holdfast_inbox:{L}", "2000", counter, "64", "0",
                      "SPUBLISH"}),
        {"a held fenced lock and a queue",
         &scripts::lock_in_queue,
         and_counter(of_alice),
         {"L", counter},
         {"30000", alice, "0", "1", "10000", waiting, "9", "0"}},
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

namespace {

// Scripts of counters.

const std::string requests = "holdfast_requests:{L}:aaaaaaaa";
const words counter_keys{"L", requests};
words count_change(const std::string& verb, const std::string& amount) {
    return {verb, amount, "0", "0", "0", "7", "0", "60000", "redisson_sc:{L}", "SPUBLISH"};
}
const words seven_before{"HSET", requests, "0", "6 1 5"};
const words asked_for_long{"PEXPIRE", requests, "60000"};

const std::string held = "{L}:timeout", id_prefix = "aaaaaaaaaaaaaaaaaaaa";
const words permit_keys{"L", held};
std::string permit(const std::string& number) { // of 32 letters: as before 3.17
    return id_prefix + std::string(12 - number.size(), '0') + number;
}
words permit_take(const std::string& count) {
    return {"30000", "1", count, id_prefix, "0", "redisson_sc:{L}", "SPUBLISH"};
}
words permit_change(const std::string& verb, const std::string& amount, const std::string& id) {
    return {verb, amount, id, "0", "7", "0", "60000", "redisson_sc:{L}", "SPUBLISH"};
}

const words rate_keys{"L", "{L}:value", "{L}:value:c", "{L}:permits", "{L}:permits:c"};
std::string draw(const std::string& who) { // 13 bytes, the last four count one
    return who + std::string(9 - who.size(), 'x') + std::string{'\1', '\0', '\0', '\0'};
}
std::vector<words> rate_before(const std::string& left, const words& drawn,
                               const std::string& when) {
    std::vector<words> all{
        {"HSET", "L", "rate", "5", "interval", "60000", "type", "0", "keepAliveTime", "0"},
        {"SET", "{L}:value", left},
        {"SET", "{L}:value:c", "3"},
        {"ZADD", "{L}:permits:c", "-90000", draw("other")}};
    for (const std::string& each : drawn)
        all.push_back({"ZADD", "{L}:permits", when, draw(each)});
    return all;
}
words with_requests(words keys) {
    keys.push_back(requests);
    return keys;
}
words rate_change(const std::string& verb, const std::string& permits) {
    return {verb, permits, "60000", "0", "0", "0", "7", "0", "60000"};
}

trials semaphore_trials() {
    const std::vector<words> five{{"SET", "L", "5"}};
    const std::vector<words> known{{"SET", "L", "5"}, seven_before, asked_for_long};
    return {
        {"permits", &scripts::take_semaphore, five, counter_keys, {"2", "0", "7", "0", "60000"}},
        {"permits of one that is known",
         &scripts::take_semaphore,
         known,
         counter_keys,
         {"2", "0", "7", "0", "60000"}},
        {"permits that are revoked",
         &scripts::revoke_semaphore,
         {{"SET", "L", "5"}, {"HSET", requests, "0", "7 1 3"}, asked_for_long},
         counter_keys,
         {"2", "0", "7", "60000", "redisson_sc:{L}", "SPUBLISH"}},
        {"more permits", &scripts::change_semaphore, known, counter_keys, count_change("add", "2")},
        {"a drain", &scripts::change_semaphore, known, counter_keys, count_change("drain", "0")},
        {"no semaphore any more", &scripts::change_semaphore, known, counter_keys,
         count_change("erase", "0")},
        {"a new semaphore",
         &scripts::change_semaphore,
         {},
         counter_keys,
         count_change("set_new", "2")},
        {"a latch that opens",
         &scripts::change_latch,
         {{"SET", "L", "1"}, seven_before, asked_for_long},
         counter_keys,
         {"count_down", "1", "0", "7", "0", "60000", "redisson_cdl:{L}", "SPUBLISH"}},
        {"a new latch",
         &scripts::change_latch,
         {},
         counter_keys,
         {"set_new", "3", "0", "7", "0", "60000", "redisson_cdl:{L}", "SPUBLISH"}},
    };
}

trials permit_trials() {
    const std::vector<words> five{{"SET", "L", "5"}};
    const std::vector<words> one_held{
        {"SET", "L", "5"}, {"ZADD", held, "+60000", permit("1")}, seven_before, asked_for_long};
    const std::vector<words> one_over{{"SET", "L", "0"}, {"ZADD", held, "-60000", permit("9")}};
    const auto without = [](std::vector<words> all, std::size_t last) {
        all.resize(all.size() - last);
        return all;
    };
    return {
        {"leased permits", &scripts::take_permits, without(one_held, 2), permit_keys,
         permit_take("2")},
        {"leased permits of a new set", &scripts::take_permits, five, permit_keys,
         permit_take("2")},
        {"leased permits that were over", &scripts::take_permits, one_over, permit_keys,
         permit_take("1")},
        {"leased permits that are too few",
         &scripts::take_permits,
         {{"SET", "L", "0"}},
         permit_keys,
         permit_take("1")},
        {"the last leased permit",
         &scripts::release_permits,
         without(one_held, 2),
         permit_keys,
         {"1", "1", id_prefix, "redisson_sc:{L}", "SPUBLISH"}},
        {"leased permits' renewal",
         &scripts::renew_permits,
         without(one_held, 2),
         {held},
         {"90000", id_prefix, "1 1"}},
        {"a leased permit by its id",
         &scripts::change_permits,
         one_held,
         {"L", held, requests},
         permit_change("give_back", "0", permit("1"))},
        {"another lease",
         &scripts::change_permits,
         one_held,
         {"L", held, requests},
         permit_change("set_lease", "90000", permit("1"))},
        {"more of leased permits",
         &scripts::change_permits,
         one_held,
         {"L", held, requests},
         permit_change("add", "2", "")},
        {"no leased permits any more",
         &scripts::change_permits,
         one_held,
         {"L", held, requests},
         permit_change("erase", "0", "")},
    };
}

trials rate_trials() {
    const words rate_after = with_requests(rate_keys);
    const auto known_rate = [](std::vector<words> more) {
        more.push_back(seven_before);
        more.push_back(asked_for_long);
        return more;
    };
    return {
        {"a draw",
         &scripts::take_rate,
         rate_before("3", {"a", "b"}, "-1000"),
         rate_keys,
         {"1", draw("new"), "0"}},
        {"a draw where all are over",
         &scripts::take_rate,
         rate_before("3", {"a", "b"}, "-90000"),
         rate_keys,
         {"1", draw("new"), "0"}},
        {"a draw again",
         &scripts::take_rate,
         rate_before("3", {"new"}, "-1000"),
         rate_keys,
         {"1", draw("new"), "0"}},
        {"a draw that is too much",
         &scripts::take_rate,
         rate_before("0", {"a", "b", "c", "d", "e"}, "-1000"),
         rate_keys,
         {"1", draw("new"), "0"}},
        {"the only draw, given back",
         &scripts::give_back_rate,
         rate_before("4", {"new"}, "-1000"),
         rate_keys,
         {draw("new")}},
        {"another rate", &scripts::change_rate, known_rate(rate_before("3", {"a", "b"}, "-1000")),
         rate_after, rate_change("set", "9")},
        {"more of a rate", &scripts::change_rate, known_rate(rate_before("3", {"a", "b"}, "-1000")),
         rate_after, rate_change("add", "2")},
        {"more of a rate where all are over", &scripts::change_rate,
         known_rate(rate_before("3", {"a", "b"}, "-90000")), rate_after, rate_change("add", "2")},
        {"no rate any more", &scripts::change_rate,
         known_rate(rate_before("3", {"a", "b"}, "-1000")), rate_after, rate_change("erase", "0")},
    };
}

} // namespace

trials trials_of_counters() {
    trials all = semaphore_trials();
    for (const trials& some : {permit_trials(), rate_trials()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

} // namespace holdfast::migrating
