// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent for read-write locks, replayed command by command: with our
// scripts in the place of both JVMs, of one, and of none, which tests the replay itself. What was
// waited for is in the recordings, as the requests that were sent then.
#include "shared_parts.hpp"
#include "support/listener.hpp"
#include "support/on_each_server.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"
#include "trace_redisson.hpp"
#include "wire_trace.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

struct replay {
    support::server_binary server;
    std::string version;
    std::string file;
    cast who;
};

void PrintTo(const replay& what, std::ostream* out) {
    *out << what.file << " of " << what.version << " on " << what.server.label;
}

std::vector<replay> all_replays() {
    std::vector<replay> all;
    for (const support::server_binary& server : support::servers())
        for (const char* version : {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"})
            for (const char* file : {"rw", "rw-watchdog"})
                for (const cast& who : all_casts())
                    all.push_back({server, version, file, who});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<replay>& info) {
    return as_test_name(info.param.server.label + "_" + info.param.version + "_" + info.param.file +
                        "_" + info.param.who.name);
}

/// The word of a command that names its owner; a writer's without its end.
std::string owner_in(const command& made) {
    for (std::string word : made.words)
        if (word.starts_with("CLIENT")) {
            if (word.ends_with(":write"))
                word.resize(word.size() - 6);
            return word;
        }
    return {};
}

class SharedTraces : public ::testing::TestWithParam<replay> {
protected:
    void play(support::redis_server& server, const scenario& what) {
        server.command({"FLUSHALL"});
        support::listener messages{server.socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<part>> parts;
        for (const char* label : {"CLIENT1", "CLIENT2"}) {
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

INSTANTIATE_TEST_SUITE_P(Redisson, SharedTraces, ::testing::ValuesIn(all_replays()), name_of);

TEST_P(SharedTraces, EndAsTheyWereRecorded) {
    // Forcing knows owners by their form, which labels have not (scripts_shared_test.cpp); and a
    // name that an RLock keeps is refused by ours.
    const std::set<std::string> other_matters{"force-unlock", "plain-lock-on-the-same-name"};
    const replay& what = GetParam();
    std::optional<support::redis_server> server;
    try {
        server.emplace(what.server, support::redis_server::options{.own_clock = true});
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const recording recorded = read(
        support::source_file("tests/redis/traces/" + what.version + "/" + what.file + ".jsonl"));
    std::size_t played = 0;
    for (const scenario& each : recorded.scenarios) {
        if (other_matters.contains(each.name))
            continue;
        play(*server, each);
        ++played;
    }
    EXPECT_GE(played, 4u);
}

} // namespace
} // namespace holdfast::trace
