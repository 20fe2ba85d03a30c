// SPDX-License-Identifier: Apache-2.0
// Of what is counted.
#include "migrating_scripts.hpp"
#include "store/redis/scripts.hpp"

namespace holdfast::migrating {
namespace {

namespace scripts = redis::scripts;
using words = std::vector<std::string>;
using trials = std::vector<trial>;

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
