// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent for semaphores and latches, replayed command by command: with our
// scripts in the place of both JVMs, of one, and of none, which tests the replay itself. What was
// waited for is in the recordings, as the requests that were sent then.
#include "counter_parts.hpp"
#include "support/on_each_server.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"
#include "trace_redisson.hpp"

#include <map>
#include <ostream>

#include <gmock/gmock.h>

namespace holdfast::trace {
namespace {

struct counted_replay {
    support::server_binary server;
    std::string version, file;
    cast who;
};

void PrintTo(const counted_replay& what, std::ostream* out) {
    *out << what.file << " of " << what.version << " on " << what.server.label;
}

std::vector<counted_replay> all_counted_replays() {
    std::vector<counted_replay> all;
    for (const support::server_binary& server : support::servers())
        for (const char* version : {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"})
            for (const char* file : {"semaphore", "latch"})
                for (const cast& who : all_casts())
                    all.push_back({server, version, file, who});
    return all;
}

std::string name_of_counted(const ::testing::TestParamInfo<counted_replay>& info) {
    return as_test_name(info.param.server.label + "_" + info.param.version + "_" + info.param.file +
                        "_" + info.param.who.name);
}

class CounterTraces : public ::testing::TestWithParam<counted_replay> {
protected:
    void play(support::redis_server& server, const scenario& what) {
        server.command({"FLUSHALL"});
        support::listener messages{server.socket_path()};
        messages.subscribe_to_all();
        std::map<std::string, std::unique_ptr<counting_part>> parts;
        for (const char* label : {"CLIENT1", "CLIENT2"})
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

    /// What Redisson before 3.16.2 did not tell, ours tells.
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

    /// What our clients are remembered by is theirs alone.
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

INSTANTIATE_TEST_SUITE_P(Redisson, CounterTraces, ::testing::ValuesIn(all_counted_replays()),
                         name_of_counted);

TEST_P(CounterTraces, EndAsTheyWereRecorded) {
    const counted_replay& what = GetParam();
    std::optional<support::redis_server> server;
    try {
        server.emplace(what.server);
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const recording recorded = read(
        support::source_file("tests/redis/traces/" + what.version + "/" + what.file + ".jsonl"));
    EXPECT_GE(recorded.scenarios.size(), 2U);
    for (const scenario& each : recorded.scenarios)
        play(*server, each);
}

} // namespace
} // namespace holdfast::trace
