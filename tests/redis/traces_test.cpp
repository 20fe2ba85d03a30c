// SPDX-License-Identifier: Apache-2.0
// Replays recordings of real Redisson clients on each server. holdfast plays both JVMs, one of
// them, the other, or none; the last case tests the replay itself.
#include "counter_scripts.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_connection.hpp"
#include "support/source_tree.hpp"
#include "trace_parts.hpp"
#include "trace_player.hpp"
#include "trace_redisson.hpp"
#include "wire_trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

struct replay {
    support::server_binary server;
    std::string version;
    std::string file{}; ///< none: its suite plays one file
    cast who{};
    std::size_t fewest = 0; ///< scenarios that are played
};

void PrintTo(const replay& what, std::ostream* out) {
    *out << (what.file.empty() ? "" : what.file + " of ") << what.version << " on "
         << what.server.label;
}

const std::vector<std::string> all_versions{"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"};

std::vector<replay> replays_of(const std::vector<std::string>& files,
                               const std::vector<cast>& casts = all_casts()) {
    std::vector<replay> all;
    for (const support::server_binary& server : support::servers())
        for (const std::string& version : all_versions)
            for (const std::string& file : files)
                for (const cast& who : casts)
                    all.push_back({server, version, file, who, 2});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<replay>& info) {
    std::string name = info.param.server.label + "_" + info.param.version;
    for (const std::string& part : {info.param.file, info.param.who.name})
        if (!part.empty())
            name += "_" + part;
    return as_test_name(name);
}

/// A suite with a server on which it plays what was recorded.
class on_recordings : public ::testing::TestWithParam<replay> {
protected:
    explicit on_recordings(support::redis_server::options how = {})
        : how_{std::move(how)} {}

    void SetUp() override {
        support::make_or_skip([this] { server_.emplace(GetParam().server, how_); });
    }

    static std::vector<scenario> recorded(const std::string& file = GetParam().file) {
        recording all = read(support::source_file("tests/redis/traces/" + GetParam().version + "/" +
                                                  file + ".jsonl"));
        EXPECT_GE(all.scenarios.size(), GetParam().fewest);
        return std::move(all.scenarios);
    }

    std::optional<support::redis_server> server_;

private:
    support::redis_server::options how_;
};

struct primitive {
    std::string file;
    std::vector<std::string> versions;
    std::size_t fewest; ///< scenarios that are played; the others say nothing about us
};

const std::vector<primitive>& recorded_primitives() {
    static const std::vector<primitive> all{{"lock", all_versions, 5},
                                            {"lock-watchdog", all_versions, 5},
                                            {"spin", {"3.17.7", "3.27.2", "3.52.0", "4.7.0"}, 2},
                                            {"fenced", {"3.27.2", "3.52.0", "4.7.0"}, 1},
                                            {"nonreentrant", {"4.7.0"}, 2},
                                            {"fair", all_versions, 3}};
    return all;
}

std::vector<replay> all_replays() {
    std::vector<replay> all;
    for (const support::server_binary& server : support::servers())
        for (const primitive& which : recorded_primitives())
            for (const std::string& version : which.versions)
                for (const cast& who : all_casts())
                    all.push_back({server, version, which.file, who, which.fewest});
    for (const support::server_binary& server : support::servers())
        all.push_back({server, "4.7.0", "nonreentrantfair", all_casts().at(2), 1});
    return all;
}

std::string name_by_file(const ::testing::TestParamInfo<replay>& info) {
    const replay& what = info.param;
    return as_test_name(what.server.label + "_" + what.file + "_" + what.version + "_" +
                        what.who.name);
}

class WireTraces : public on_recordings {
protected:
    WireTraces()
        : on_recordings{{.own_clock = true}} {}
};

INSTANTIATE_TEST_SUITE_P(Redisson, WireTraces, ::testing::ValuesIn(all_replays()), name_by_file);

TEST_P(WireTraces, EndAsTheyWereRecorded) {
    const std::vector<scenario> all = recorded();
    std::size_t played = 0;
    for (const scenario& each : all) {
        player player{*server_, GetParam().who.ours};
        if (!player.objection_to(each).empty())
            continue;
        player.play(each);
        ++played;
    }
    EXPECT_GE(played, GetParam().fewest) << "of " << all.size();
}

// What real Redisson clients sent for semaphores and latches, replayed command by command: with our
// scripts in the place of both JVMs, of one, and of none, which tests the replay itself. What was
// waited for is in the recordings, as the requests that were sent then.

class CounterTraces : public on_recordings {
protected:
    void play(support::redis_server& server, const scenario& what) {
        server.command({"FLUSHALL"});
        support::listener messages{server.socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<counting_part>> parts;
        for (const char* label : {client1, client2})
            parts[label] = GetParam().who.ours.contains(label)
                               ? one_of_ours_that_counts(server, label)
                               : a_counting_jvm(server);
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            std::vector<support::message> expected = each.messages;
            for (const command& made : each.commands) {
                if (!made.is_script) {
                    (void)redisson{server}.run(made); // questions, and what a stranger does
                    continue;
                }
                counting_part& by = *parts.at(made.by);
                const std::int64_t said = by.run(made);
                expected = by.tells(made, std::move(expected));
                compare_answer(made, said);
            }
            compare_messages(each, messages.take(), expected);
            if (each.state)
                compare_state(server, *each.state);
        }
    }

    /// Redisson's own answers say nothing where they are null.
    static void compare_answer(const command& made, std::int64_t said) {
        if (!made.answer || made.answer->is_null())
            return;
        const json::value& recorded = *made.answer;
        EXPECT_EQ(said, recorded.is_string() ? std::stoll(std::string{recorded.as_string()})
                                             : recorded.to_number<std::int64_t>())
            << made.by << ' ' << made.what;
    }

    /// holdfast sends a message that Redisson before 3.16.2 did not send.
    static void compare_messages(const step& what, std::vector<support::message> told,
                                 const std::vector<support::message>& expected) {
        const bool adds =
            !what.commands.empty() && what.commands[0].what == "semaphore.add-permits";
        if (adds && expected.empty())
            told.clear();
        EXPECT_TRUE(told == expected)
            << "told: " << in_words(told) << "; recorded: " << in_words(expected);
    }
    static std::string in_words(const std::vector<support::message>& all) {
        std::string words;
        for (const support::message& each : all)
            words += each.channel + " " + each.payload + ", ";
        return words;
    }

    /// Data that only holdfast clients store about themselves.
    static void compare_state(support::redis_server& server, const json::object& recorded) {
        std::map<std::string, std::string> expected, found;
        for (const auto& [name, key] : recorded)
            expected[name] = std::string{key.at("value").as_string()};
        for (const redis::reply& each : server.command({"KEYS", "*"}).items)
            if (!each.text.starts_with("holdfast_requests:"))
                found[each.text] = server.command({"GET", each.text}).text;
        EXPECT_EQ(found, expected);
    }
};

INSTANTIATE_TEST_SUITE_P(Redisson, CounterTraces,
                         ::testing::ValuesIn(replays_of({"semaphore", "latch"})), name_of);

TEST_P(CounterTraces, EndAsTheyWereRecorded) {
    for (const std::vector<scenario> all = recorded(); const scenario& each : all)
        play(*server_, each);
}

// What real Redisson clients sent for permit-expirable semaphores, replayed command by command,
// with our scripts in the place of both JVMs, of one, and of none. Where they waited, the ends of
// permits are moved instead.

class PermitTraces : public on_recordings {
protected:
    void play(const scenario& what) {
        server_->command({"FLUSHALL"});
        book_ = {.form = GetParam().version == "3.13.6" ? redis::redisson_form::v3_13
                                                        : redis::redisson_form::v3_17};
        support::listener messages{server_->socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<permit_part>> parts;
        for (const char* label : {client1, client2})
            parts[label] = is_ours(label)
                               ? one_of_ours_with_permits(*server_, book_, label)
                               : a_jvm_with_permits(*server_, book_, GetParam().version >= "3.41");
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            play(each, parts, messages);
        }
    }

private:
    static bool is_ours(const std::string& label) { return GetParam().who.ours.contains(label); }

    void play(const step& each, std::map<std::string, std::unique_ptr<permit_part>>& parts,
              support::listener& messages) {
        constexpr std::int64_t until_something_ends = 1'000;
        if (each.made.what == "wait")
            let_pass(each.arguments.empty() ? until_something_ends : each.arguments[0].as_int64());
        std::vector<support::message> told;
        for (const command& made : each.commands) {
            if (!made.is_script) {
                play_plain(made);
                const std::vector<support::message> by_strangers = messages.take();
                told.insert(told.end(), by_strangers.begin(), by_strangers.end());
                continue;
            }
            const std::int64_t before = value();
            const std::int64_t said = parts.at(made.by)->run(made);
            compare_answer(made, said);
            const std::vector<support::message> now = messages.take();
            if (is_ours(made.by))
                expect_told(now, before);
            told.insert(told.end(), now.begin(), now.end());
        }
        if (GetParam().who.ours.empty()) {
            EXPECT_TRUE(told == each.messages);
        }
        if (each.state)
            compare_state(*each.state);
    }

    /// Ours tell how many there are now, where there are more than before.
    void expect_told(const std::vector<support::message>& told, std::int64_t before) {
        const std::int64_t now = value();
        if (now <= before || now <= 0) {
            EXPECT_TRUE(told.empty());
            return;
        }
        ASSERT_FALSE(told.empty());
        EXPECT_EQ(told.back().channel, "redisson_sc:{P}");
        EXPECT_EQ(told.back().payload, std::to_string(now));
    }

    /// Changes by other programs, and deletions.
    void play_plain(const command& made) {
        static const std::set<std::string> known{"SET", "ZADD", "ZREM", "INCRBY", "PUBLISH", "DEL"};
        if (!known.contains(made.what))
            return; // who listens
        std::vector<std::string> words{made.what};
        for (const std::string& each : made.words)
            words.push_back(permit_book::is_permit(each) ? book_.at(each) : each);
        server_->command(words);
    }

    void compare_answer(const command& made, std::int64_t said) const {
        if (!made.answer)
            return;
        const json::value& recorded = *made.answer;
        if (made.what == "permits.acquire") {
            const bool was_granted = recorded.is_string() && !recorded.as_string().starts_with(':');
            EXPECT_EQ(said == 1, was_granted) << made.by;
        } else if (made.what == "permits.release" && made.words.size() == 2 && is_ours(made.by)) {
            // Before 3.17 a JVM thought that it had still held what was over.
            EXPECT_LE(said, recorded.as_int64());
        } else if (recorded.is_int64()) {
            EXPECT_EQ(said, recorded.as_int64()) << made.by << ' ' << made.what;
        } else if (recorded.is_string() && !recorded.as_string().starts_with('~')) {
            EXPECT_EQ(said, std::stoll(std::string{recorded.as_string()})) << made.what;
        }
    }

    std::int64_t value() {
        const std::string text = server_->command({"GET", "P"}).text;
        return text.empty() ? 0 : std::stoll(text);
    }
    std::int64_t now() {
        const redis::reply time = server_->command({"TIME"});
        return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
    }
    std::map<std::string, std::int64_t> held() {
        std::map<std::string, std::int64_t> all;
        const auto words = server_->command({"ZRANGE", "{P}:timeout", "0", "-1", "WITHSCORES"});
        for (std::size_t i = 0; i + 1 < words.items.size(); i += 2)
            all[words.items[i].text] = std::stoll(words.items[i + 1].text);
        return all;
    }
    void let_pass(std::int64_t length) {
        for (const auto& [id, ends] : held())
            if (ends != permit_without_end)
                server_->command({"ZADD", "{P}:timeout", std::to_string(ends - length), id});
    }

    /// Expired permits count as free: holdfast removes them when it needs them. A permit without an
    /// expiry in the JVM has a long lease here.
    void compare_state(const json::object& recorded) {
        constexpr std::int64_t long_enough = 1'800'000, tolerance = 2'000;
        std::map<std::string, std::int64_t> expected;
        if (const json::value* set = recorded.if_contains("{P}:timeout"))
            for (const json::value& each : set->at("value").as_array()) {
                const std::string name{each.at(0).as_string()}, end{each.at(1).as_string()};
                expected[book_.at(name)] =
                    end.starts_with("NOW") ? std::stoll(end.substr(3)) : permit_without_end;
            }
        std::int64_t free = value();
        std::size_t living = 0;
        for (const auto& [id, ends] : held()) {
            const std::int64_t left = ends - now();
            if (left <= 0) {
                ++free;
                continue;
            }
            ++living;
            ASSERT_TRUE(expected.contains(id));
            if (expected.at(id) == permit_without_end) {
                EXPECT_GE(left, long_enough);
            } else {
                EXPECT_LE(std::abs(left - expected.at(id)), tolerance);
            }
        }
        EXPECT_EQ(living, expected.size());
        const json::value* number = recorded.if_contains("P");
        EXPECT_EQ(free,
                  number == nullptr ? 0 : std::stoll(std::string{number->at("value").as_string()}));
    }

    permit_book book_;
};

INSTANTIATE_TEST_SUITE_P(Redisson, PermitTraces, ::testing::ValuesIn(replays_of({""})), name_of);

TEST_P(PermitTraces, EndAsTheyWereRecorded) {
    for (const std::vector<scenario> all = recorded("permits"); const scenario& each : all)
        play(each);
}

// What real Redisson clients sent for rate limiters, replayed with our scripts in the place of both
// JVMs: who was let through, and how much was left. Where time passed, draws are moved instead.

class RateTraces : public on_recordings {
protected:
    void play(const scenario& what) {
        server_->command({"FLUSHALL"});
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            if (each.made.what == "wait")
                let_pass(each.arguments.empty() ? interval : each.arguments[0].as_int64());
            bool has_waited = each.made.what == "wait";
            for (const command& made : each.commands) {
                if (made.what == "DEL") {
                    change("erase", {"0", "0", "0", "0"}, made.by);
                } else if (made.what == "rate.expire" || made.what == "object.expire") {
                    server_->command({"PEXPIRE", "RL", made.words.at(0)});
                } else if (made.is_script) {
                    play(made, has_waited);
                    has_waited = true;
                }
            }
            if (each.state)
                compare_state(*each.state);
        }
    }

private:
    using words = std::vector<std::string>;

    /// The recording's, and a little: times are rounded up.
    static constexpr std::int64_t interval = 1'502;

    void play(const command& made, bool has_waited) {
        if (made.what == "rate.acquire")
            return draw(made, has_waited);
        if (made.what == "rate.available")
            return compare_available(made);
        if (made.what == "rate.release")
            return (void)change("add", {made.words.at(0), "0", "0", "0"}, made.by);
        const std::string kept = made.words.size() > 3 ? made.words.at(3) : "0";
        const bool is_first = made.what == "rate.set-rate-if-absent";
        const std::int64_t said =
            change(is_first ? "set_new" : "set",
                   {made.words.at(0), made.words.at(1), made.words.at(2), kept}, made.by);
        if (is_first) {
            EXPECT_EQ(said, made.answer->as_int64());
        }
    }

    /// A caller that waited inside a call asked again at the time that the reply had named.
    void draw(const command& made, bool has_waited) {
        const bool was_drawn = made.answer->is_null();
        if (was_drawn && has_waited)
            let_pass(interval);
        const int count = std::stoi(made.words.at(0));
        const owner_id request{{static_cast<std::uint8_t>(made.by.back()), 7}, ++number_};
        const redis::reply said =
            run(redis::scripts::take_rate, made.by,
                {std::to_string(count), redis::rate_member(request, count, form()), "0"});
        if (made.answer->is_object()) {
            EXPECT_EQ(said.type, redis::reply::kind::error);
        } else if (said.type == redis::reply::kind::error) {
            EXPECT_THAT(said.text, ::testing::HasSubstr("more than the rate"));
        } else {
            EXPECT_EQ(support::integers_of(said).at(0), was_drawn ? 1 : 0);
        }
    }
    /// Never more than the rate: what a JVM gave back may be counted twice there.
    void compare_available(const command& made) {
        const std::vector<std::int64_t> said =
            support::integers_of(run(redis::scripts::inspect_rate, made.by, {}));
        if (made.answer->is_object()) {
            EXPECT_EQ(said.at(0), 0);
            return;
        }
        const std::int64_t recorded = made.answer->is_string()
                                          ? std::stoll(std::string{made.answer->as_string()})
                                          : made.answer->as_int64();
        EXPECT_EQ(said.at(1), std::min(recorded, said.at(2)));
    }
    void compare_state(const json::object& recorded) {
        const json::value* limiter = recorded.if_contains("RL");
        std::map<std::string, std::string> found;
        const std::vector<redis::reply> all = server_->command({"HGETALL", "RL"}).items;
        for (std::size_t i = 0; i + 1 < all.size(); i += 2)
            found[all[i].text] = all[i + 1].text;
        if (limiter == nullptr) {
            EXPECT_TRUE(found.empty());
            return;
        }
        for (const auto& [field, value] : limiter->at("value").as_object())
            EXPECT_EQ(found[field], std::string_view{value.as_string()}) << field;
    }

    std::int64_t change(const std::string& verb, words of, const std::string& by) {
        words all{verb};
        all.insert(all.end(), of.begin(), of.end());
        for (const char* each : {"0", "", "0", "60000"})
            all.emplace_back(each);
        all.at(6) = std::to_string(++number_);
        return support::integers_of(run(redis::scripts::change_rate, by, all)).at(0);
    }
    redis::reply run(const redis::script& what, const std::string& by, words arguments) {
        words keys{"RL", "{RL}:value", "{RL}:value:" + by, "{RL}:permits", "{RL}:permits:" + by};
        if (arguments.size() > 3)
            keys.push_back("holdfast_requests:{RL}:" + by);
        return support::run_script(*server_, what, keys, arguments);
    }
    static redis::redisson_form form() {
        return GetParam().version == "3.13.6" ? redis::redisson_form::v3_13
                                              : redis::redisson_form::v3_17;
    }
    void let_pass(std::int64_t length) {
        for (const redis::reply& key : server_->command({"KEYS", "{RL}:permits*"}).items) {
            const auto all = server_->command({"ZRANGE", key.text, "0", "-1", "WITHSCORES"}).items;
            for (std::size_t i = 0; i + 1 < all.size(); i += 2)
                server_->command({"ZADD", key.text,
                                  std::to_string(std::stoll(all[i + 1].text) - length),
                                  all[i].text});
        }
    }

    std::uint64_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Redisson, RateTraces, ::testing::ValuesIn(replays_of({""}, {cast{}})),
                         name_of);

TEST_P(RateTraces, LetThroughWhomRedissonLetThrough) {
    for (const std::vector<scenario> all = recorded("ratelimiter"); const scenario& each : all)
        play(each);
}

// What real Redisson clients sent for read-write locks, replayed command by command: with our
// scripts in the place of both JVMs, of one, and of none, which tests the replay itself. What was
// waited for is in the recordings, as the requests that were sent then.

/// The word of a command that names its owner; a writer's without its end.
std::string owner_in(const command& made) {
    for (std::string word : made.words)
        if (is_owner(word)) {
            if (word.ends_with(":write"))
                word.resize(word.size() - 6);
            return word;
        }
    return {};
}

class SharedTraces : public on_recordings {
protected:
    SharedTraces()
        : on_recordings{{.own_clock = true}} {}

    void play(support::redis_server& server, const scenario& what) {
        server.command({"FLUSHALL"});
        support::listener messages{server.socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<part>> parts;
        for (const char* label : {client1, client2}) {
            const bool is_ours = GetParam().who.ours.contains(label);
            parts[label] = is_ours ? one_of_ours(server) : a_jvm(server);
        }
        for (const step& each : what.steps) {
            SCOPED_TRACE(what.name + ", step " + std::to_string(each.number));
            if (each.made.what == "wait" && !each.arguments.empty())
                server.step_clock(duration{each.arguments[0].as_int64()} + longer);
            bool ended_nothing = false;
            for (const command& made : each.commands)
                ended_nothing = !run(server, parts, made) || ended_nothing;
            // Ours tells of a downgrade, too, and nothing where nothing was held.
            const auto told = messages.take();
            auto next = told.begin();
            const auto expected = ended_nothing ? decltype(each.messages){} : each.messages;
            for (const support::message& one : expected) {
                next = std::find(next, told.end(), one);
                EXPECT_NE(next, told.end()) << "not told: " << one.payload;
                next += next == told.end() ? 0 : 1;
            }
            if (each.state)
                compare(server, *each.state);
        }
    }

    /// Waits took a little longer than was said.
    static constexpr duration longer{250};

    /// False: what was to be ended was not there.
    static bool run(support::redis_server& server,
                    std::map<std::string, std::unique_ptr<part>>& parts, const command& made) {
        if (!made.is_script) {
            (void)redisson{server}.run(made); // questions, and what a stranger does
            return true;
        }
        if (made.what.ends_with(".renew")) {
            renew(*parts.at(made.by), made);
            return true;
        }
        const std::string owner = owner_in(made), name = made.keys.at(0);
        const bool granted = made.answer && made.answer->is_null();
        part& by = *parts.at(made.by);
        if (made.what == "read.acquire" || made.what == "write.acquire") {
            const std::int64_t lease = std::stoll(made.words.at(0));
            const auto take = [&] {
                return made.what == "read.acquire" ? by.read(name, owner, lease)
                                                   : by.write(name, owner, lease);
            };
            bool got = take();
            if (!got && granted) { // it waited until a lease was over
                server.step_clock(duration{server.command({"PTTL", name}).integer + 5});
                got = take();
            }
            EXPECT_EQ(got, granted) << made.by << ' ' << made.what;
        } else if (made.what == "read.unlock") {
            return by.end_read(name, owner);
        } else if (made.what == "write.unlock") {
            return by.end_write(name, owner, std::stoll(made.words.at(1)));
        }
        return true;
    }

    /// What 3.52.0 did wrong when two threads read is not done: it named no owner, or got an error.
    static void renew(part& by, const command& made) {
        const std::int64_t lease = std::stoll(made.words.at(0));
        if (made.answer->is_object())
            return;
        if (made.what == "lock.renew") {
            EXPECT_EQ(by.renew_write(made.keys.at(0), owner_in(made), lease), held(made, 0));
            return;
        }
        auto word = made.words.begin() + 1;
        for (std::size_t i = 0; 2 * i < made.keys.size();
             ++i) { // pairs: name, prefix of its timers
            const bool counted = word->find(':') == word->npos && !word->empty(); // since 4.0
            for (int owners = counted ? std::stoi(*word++) : 1; owners > 0; --owners, ++word) {
                if (word->empty())
                    continue;
                const bool there = by.renew_read(made.keys[2 * i], *word, lease, !counted);
                EXPECT_EQ(there, held(made, i)) << *word;
            }
        }
    }

    /// As recorded of the so manieth name.
    static bool held(const command& made, std::size_t which) {
        const json::value& said = *made.answer;
        return (said.is_array() ? said.as_array().at(which) : said).to_number<int>() == 1;
    }

    /// Whose fields and timers there are; how long they last differs on purpose (README.md).
    void compare(support::redis_server& server, const json::object& recorded) const {
        std::set<std::string> expected, found;
        for (const auto& [name, key] : recorded)
            if (is_kept(name))
                expected.insert(name);
        for (const redis::reply& each : server.command({"KEYS", "*"}).items)
            found.insert(each.text);
        EXPECT_EQ(found, expected);
        for (const auto& [name, key] : recorded) {
            if (key.at("type").as_string() != "hash" || !is_kept(name))
                continue;
            std::set<std::string> fields, there;
            for (const auto& [field, count] : key.at("value").as_object())
                fields.insert(field);
            for (const redis::reply& each : server.command({"HKEYS", std::string{name}}).items)
                there.insert(each.text);
            EXPECT_EQ(there, fields);
        }
    }

    /// Ours need no latch, and have one timer for a thread that has entered twice.
    bool is_kept(std::string_view name) const {
        if (name.starts_with("redisson_unlock_latch"))
            return false;
        const bool is_second =
            name.find(":rwlock_timeout:") != name.npos && !name.ends_with(":rwlock_timeout:1");
        return !is_second || !std::ranges::any_of(GetParam().who.ours, [&](const auto& label) {
            return name.find(label) != name.npos;
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Redisson, SharedTraces,
                         ::testing::ValuesIn(replays_of({"rw", "rw-watchdog"})), name_of);

TEST_P(SharedTraces, EndAsTheyWereRecorded) {
    // Forcing knows owners by their form, which labels have not (scripts_shared_test.cpp); and a
    // name that an RLock keeps is refused by ours.
    const std::set<std::string> other_matters{"force-unlock", "plain-lock-on-the-same-name"};
    std::size_t played = 0;
    for (const std::vector<scenario> all = recorded(); const scenario& each : all) {
        if (other_matters.contains(each.name))
            continue;
        play(*server_, each);
        ++played;
    }
    EXPECT_GE(played, 4u);
}

} // namespace
} // namespace holdfast::trace
