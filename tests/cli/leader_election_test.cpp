// SPDX-License-Identifier: Apache-2.0
// The example of a leader election (docs/howto/leader-election.md), with one process for each
// candidate: leaders that end, that are killed, that stand still, and that are cut off.
#include "cli/server_test.hpp"
#include "support/stream_proxy.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace holdfast::cli_test {
namespace {

class LeaderElection : public on_server {
protected:
    void SetUp() override {
        on_server::SetUp();
        if (!std::filesystem::exists(example()))
            GTEST_SKIP() << "the examples are not built";
    }

    static std::string example() {
        const char* const folder = std::getenv("HOLDFAST_EXAMPLES");
        return std::string{folder ? folder : "."} + "/19_leader_election";
    }

    /// Starts a candidate. Its leases are short, so the next leader follows a dead one soon.
    static std::unique_ptr<program> candidate(const std::string& url, const std::string& called) {
        const char* const separator = url.find('?') == std::string::npos ? "?" : "&";
        return std::make_unique<program>(
            program::exactly{{example(), url + separator + "lease_time=2s", called}});
    }
    std::unique_ptr<program> candidate(const std::string& called) {
        return candidate(url(), called);
    }

    /// Waits until the candidate leads. Returns its fencing token.
    static std::uint64_t token_of_leader(program& who, const std::string& called) {
        const std::string begin = called + " leads with token ";
        const std::string line = who.line();
        EXPECT_EQ(line.substr(0, begin.size()), begin);
        return line.size() > begin.size() ? std::stoull(line.substr(begin.size())) : 0;
    }
};
HOLDFAST_ON_EACH_SERVER(LeaderElection);

TEST_P(LeaderElection, NextCandidateLeadsWhenTheLeaderIsToldToEnd) {
    const auto first = candidate("first");
    const std::uint64_t token = token_of_leader(*first, "first");
    const auto second = candidate("second");
    first->signal(SIGTERM);
    EXPECT_EQ(first->end().status, 0);
    EXPECT_GT(token_of_leader(*second, "second"), token);
    second->signal(SIGTERM);
    EXPECT_EQ(second->end().status, 0);
    EXPECT_TRUE(eventually([&] { return server().command({"EXISTS", "leader"}).integer == 0; }));
}

TEST_P(LeaderElection, EachRestartOfARollingRestartHasALeader) {
    auto leader = candidate("node 0");
    std::uint64_t token = token_of_leader(*leader, "node 0");
    for (int round = 1; round <= 3; ++round) {
        const std::string called = "node " + std::to_string(round);
        auto next = candidate(called);
        leader->signal(SIGTERM);
        EXPECT_EQ(leader->end().status, 0);
        const std::uint64_t greater = token_of_leader(*next, called);
        EXPECT_GT(greater, token);
        token = greater;
        leader = std::move(next);
    }
}

TEST_P(LeaderElection, NextCandidateLeadsAfterTheLeaderWasKilled) {
    const auto first = candidate("first");
    const std::uint64_t token = token_of_leader(*first, "first");
    const auto second = candidate("second");
    first->signal(SIGKILL);
    EXPECT_GT(token_of_leader(*second, "second"), token);
}

TEST_P(LeaderElection, LeaderThatStoodStillKnowsThatItLeadsNoLonger) {
    const auto first = candidate("first");
    const std::uint64_t token = token_of_leader(*first, "first");
    const auto second = candidate("second");
    first->signal(SIGSTOP);
    const std::uint64_t greater = token_of_leader(*second, "second");
    EXPECT_GT(greater, token);
    first->signal(SIGCONT);
    EXPECT_EQ(first->line(), "first has lost the leadership");
    second->signal(SIGTERM);
    EXPECT_EQ(second->end().status, 0);
    EXPECT_GT(token_of_leader(*first, "first"), greater) << "it takes part again";
}

TEST_P(LeaderElection, LeaderThatIsCutOffStopsAndTakesPartAgain) {
    const std::size_t socket = url().find(server().socket_path());
    if (socket == std::string::npos)
        GTEST_SKIP() << "the proxy needs the socket of the server in the URL";
    support::stream_proxy cable{server().socket_path()};
    const auto first = candidate(
        url().replace(socket, server().socket_path().size(), cable.socket_path()), "first");
    const std::uint64_t token = token_of_leader(*first, "first");
    const auto second = candidate("second");
    cable.be_silent(true);
    cable.lose_all();
    EXPECT_EQ(first->line(), "first has lost the leadership");
    const std::uint64_t greater = token_of_leader(*second, "second");
    EXPECT_GT(greater, token);
    cable.be_silent(false);
    second->signal(SIGTERM);
    EXPECT_EQ(second->end().status, 0);
    EXPECT_GT(token_of_leader(*first, "first"), greater);
}

} // namespace
} // namespace holdfast::cli_test
