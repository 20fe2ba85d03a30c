// SPDX-License-Identifier: Apache-2.0
// What real Redisson clients sent, replayed on each server: with our client in the place of both
// JVMs, of the one, of the other, and of none, which tests the replay itself.
#include "support/on_each_server.hpp"
#include "support/source_tree.hpp"
#include "trace_casts.hpp"
#include "trace_player.hpp"

#include <ostream>

namespace holdfast {
namespace {

struct replay {
    support::server_binary server;
    std::string version, file;
    trace::cast who;
    std::size_t fewest;
};

void PrintTo(const replay& what, std::ostream* out) {
    *out << what.file << " of " << what.version << " on " << what.server.label;
}

struct primitive {
    std::string file;
    std::vector<std::string> versions;
    std::size_t fewest; ///< scenarios that are played; the others say nothing about us
};

const std::vector<primitive>& recorded_primitives() {
    static const std::vector<primitive> all{
        {"lock", {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"}, 5},
        {"lock-watchdog", {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"}, 5},
        {"spin", {"3.17.7", "3.27.2", "3.52.0", "4.7.0"}, 2},
        {"fenced", {"3.27.2", "3.52.0", "4.7.0"}, 1},
        {"nonreentrant", {"4.7.0"}, 2},
        {"fair", {"3.13.6", "3.17.7", "3.27.2", "3.52.0", "4.7.0"}, 3}};
    return all;
}

std::vector<replay> all_replays() {
    std::vector<replay> all;
    for (const support::server_binary& server : support::servers())
        for (const primitive& which : recorded_primitives())
            for (const std::string& version : which.versions)
                for (const trace::cast& who : trace::all_casts())
                    all.push_back({server, version, which.file, who, which.fewest});
    for (const support::server_binary& server : support::servers())
        all.push_back({server, "4.7.0", "nonreentrantfair", trace::all_casts().at(2), 1});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<replay>& info) {
    const replay& what = info.param;
    return trace::as_test_name(what.server.label + "_" + what.file + "_" + what.version + "_" +
                               what.who.name);
}

class WireTraces : public ::testing::TestWithParam<replay> {};

INSTANTIATE_TEST_SUITE_P(Redisson, WireTraces, ::testing::ValuesIn(all_replays()), name_of);

TEST_P(WireTraces, EndAsTheyWereRecorded) {
    const replay& what = GetParam();
    std::optional<support::redis_server> server;
    try {
        server.emplace(what.server, support::redis_server::options{.own_clock = true});
    } catch (const support::server_unavailable& why) {
        ASSERT_FALSE(support::servers_are_required()) << why.what();
        GTEST_SKIP() << why.what();
    }
    const trace::recording recorded = trace::read(
        support::source_file("tests/redis/traces/" + what.version + "/" + what.file + ".jsonl"));
    std::size_t played = 0;
    for (const trace::scenario& each : recorded.scenarios) {
        trace::player player{*server, what.who.ours};
        if (!player.objection_to(each).empty())
            continue;
        player.play(each);
        ++played;
    }
    EXPECT_GE(played, what.fewest) << "of " << recorded.scenarios.size();
}

} // namespace
} // namespace holdfast
