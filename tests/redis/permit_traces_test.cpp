// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent for permit-expirable semaphores, replayed command by command,
// with our scripts in the place of both JVMs, of one, and of none. Where they waited, the ends of
// permits are moved instead.
#include "permit_parts.hpp"
#include "support/listener.hpp"
#include "support/on_each_server.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

struct permit_replay {
    support::server_binary server;
    std::string version;
    cast who;
};

void PrintTo(const permit_replay& what, std::ostream* out) {
    *out << what.version << " on " << what.server.label;
}

std::vector<permit_replay> all_permit_replays() {
    std::vector<permit_replay> all;
    for (const support::server_binary& server : support::servers())
        for (const char* version : {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"})
            for (const cast& who : all_casts())
                all.push_back({server, version, who});
    return all;
}

std::string name_of_permits(const ::testing::TestParamInfo<permit_replay>& info) {
    return as_test_name(info.param.server.label + "_" + info.param.version + "_" +
                        info.param.who.name);
}

class PermitTraces : public ::testing::TestWithParam<permit_replay> {
protected:
    void play(const scenario& what) {
        server_->command({"FLUSHALL"});
        book_ = {.form = GetParam().version == "3.13.6" ? redis::redisson_form::v3_13
                                                        : redis::redisson_form::v3_17};
        support::listener messages{server_->socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<permit_part>> parts;
        for (const char* label : {"CLIENT1", "CLIENT2"})
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

    /// What a stranger does, and deletions.
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

    /// What is over counts as free: ours take it out when they need it. What has no end at a JVM
    /// has a long lease of ours.
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

protected:
    std::optional<support::redis_server> server_;

private:
    permit_book book_;
};

INSTANTIATE_TEST_SUITE_P(Redisson, PermitTraces, ::testing::ValuesIn(all_permit_replays()),
                         name_of_permits);

TEST_P(PermitTraces, EndAsTheyWereRecorded) {
    const permit_replay& what = GetParam();
    try {
        server_.emplace(what.server);
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const recording recorded =
        read(support::source_file("tests/redis/traces/" + what.version + "/permits.jsonl"));
    EXPECT_GE(recorded.scenarios.size(), 2U);
    for (const scenario& each : recorded.scenarios)
        play(each);
}

} // namespace
} // namespace holdfast::trace
