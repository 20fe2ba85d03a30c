// SPDX-License-Identifier: Apache-2.0
// The program on three servers: `run`, and what the other verbs say of a lock there. A node votes
// when a lease is over since it started. The leases of tests that wait for that are short; the
// others say --nodes-remember, and have leases that survive a pause of a busy machine.
#include "cli/json_shape.hpp"
#include "cli/program.hpp"
#include "support/redis_server.hpp"

#include <boost/json.hpp>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Quorum : public ::testing::Test {
protected:
    Quorum() {
        for (auto& each : nodes_)
            each = std::make_unique<support::redis_server>();
    }

    std::vector<std::string> with_urls(std::vector<std::string> words) {
        for (auto& each : urls())
            words.insert(words.begin() + 1, {"--url", each});
        return words;
    }
    std::array<std::string, 3> urls() {
        return {nodes_[0]->url(), nodes_[1]->url(), nodes_[2]->url()};
    }
    std::vector<std::string> until_closed() {
        return with_urls({"run", "--lease", "20", "--nodes-remember", "job", "sh", "-c",
                          "echo held; read nothing"});
    }
    support::redis_server& node(std::size_t i) { return *nodes_.at(i); }
    bool is_held_at(std::size_t i) { return node(i).command({"EXISTS", "job"}).integer == 1; }
    /// In seconds: a server's own clock, on which leases end there.
    std::int64_t uptime_of(std::size_t i) {
        const std::string all = node(i).command({"INFO", "server"}).text;
        const std::string before = "uptime_in_seconds:";
        return std::stoll(all.substr(all.find(before) + before.size()));
    }

private:
    std::array<std::unique_ptr<support::redis_server>, 3> nodes_;
};

TEST_F(Quorum, ACommandRunsWithTheLockOnTheNodes) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(eventually([&] { return is_held_at(0) && is_held_at(1) && is_held_at(2); }));
    const ended busy = run_when_reached(with_urls(
        {"run", "-w", "0.1", "--lease", "20", "--nodes-remember", "-E", "9", "job", "true"}));
    EXPECT_EQ(busy.status, 9);
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 1); // of read
    EXPECT_TRUE(eventually([&] { return !is_held_at(0) && !is_held_at(1) && !is_held_at(2); }));
}

TEST_F(Quorum, NamesAreReadAndPrintedWithoutThePrefix) {
    std::string all;
    for (const std::string& each : urls())
        all += (all.empty() ? "" : " ") + each + "?prefix=shop:";
    program holder{
        {"run", "--lease", "20", "--nodes-remember", "job", "sh", "-c", "echo held; read nothing"},
        all};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(eventually([&] { return node(0).command({"EXISTS", "shop:job"}).integer == 1; }));
    EXPECT_EQ(run({"ls", "-1"}, all).out, "job\n");
    const boost::json::value told = boost::json::parse(run({"inspect", "--json", "job"}, all).out);
    EXPECT_EQ(told.at("nodes").at(0).at("lock").at("name").as_string(), "job");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}, all).status, 0);
}

TEST_F(Quorum, ANodeThatIsAwayIsNotNeeded) {
    node(1).stop();
    const ended fine = run(with_urls({"run", "--lease", "2", "job", "echo", "done"}));
    EXPECT_EQ(fine.status, 0) << fine.err;
    EXPECT_EQ(fine.out, "done\n");
}

TEST_F(Quorum, ServersThatHaveJustStartedVoteOnlyIfTheyForgetNothing) {
    EXPECT_NE(run(with_urls({"run", "-n", "job", "echo", "done"})).out, "done\n");
    const ended fine =
        run_when_reached(with_urls({"run", "-n", "--nodes-remember", "job", "echo", "done"}));
    EXPECT_EQ(fine.status, 0) << fine.err;
    EXPECT_EQ(fine.out, "done\n");
    EXPECT_NE(
        run(with_urls({"run", "-n", "--lease", "0.1", "--longest-lease", "1h", "job", "true"}))
            .status,
        0);
}

TEST_F(Quorum, TheCommandOutlivesANodeThatIsRestartedAndOneThatHangs) {
    // A lease of 2 s was lost when a busy machine did not run the program for more than a second.
    constexpr std::int64_t lease = 7;
    program holder{with_urls(
        {"run", "--lease", std::to_string(lease), "job", "sh", "-c", "echo held; read nothing"})};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_TRUE(eventually([&] { return is_held_at(0) && is_held_at(1) && is_held_at(2); }));
    node(0).restart_empty();
    EXPECT_TRUE(eventually([&] { return is_held_at(0); })) << "it was not taken again";
    // Its vote counts a lease later, and the next one may go only then.
    EXPECT_TRUE(eventually([&] { return uptime_of(0) > lease + 1; }));
    node(1).pause();
    EXPECT_TRUE(eventually([&, since = uptime_of(0)] { return uptime_of(0) > since + lease + 1; }));
    node(1).resume();
    EXPECT_TRUE(eventually([&] { return is_held_at(1); }));
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 1); // of read: the lock was not lost
}

TEST_F(Quorum, WithoutAMajorityItIsUnavailable) {
    node(1).stop();
    node(2).stop();
    const ended no = run(with_urls({"run", "-n", "--lease", "2", "job", "true"}));
    EXPECT_EQ(no.status, 69) << no.err;
    EXPECT_THAT(no.err, StartsWith("holdfast: cannot reach "));
}

TEST_F(Quorum, WaitEndsAtItsTimeoutIfTheNodesStandStill) {
    for (std::size_t i = 0; i < 3; ++i)
        node(i).pause();
    std::vector<std::string> words{"run", "-w", "0.3", "job", "true"};
    for (const std::string& each : urls())
        words.insert(words.begin() + 1, {"--url", each + "?connect_timeout=1h&command_timeout=1h"});
    const ended silent = run(words);
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("no majority of the 3 nodes can vote"));
    for (std::size_t i = 0; i < 3; ++i)
        node(i).resume();
}

TEST_F(Quorum, VerbsDoWithoutANodeThatStandsStill) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_TRUE(eventually([&] { return is_held_at(0) && is_held_at(1) && is_held_at(2); }));
    node(1).pause();
    EXPECT_EQ(run(with_urls({"wait", "-w", "0", "job"})).status, 1);
    const ended shown = run(with_urls({"inspect", "job"}));
    EXPECT_EQ(shown.status, 0);
    EXPECT_THAT(shown.out, HasSubstr("held on 2 of 3 nodes, and 1 could not be asked"));
    const ended forced = run(with_urls({"unlock", "--force", "--yes", "job"}));
    EXPECT_EQ(forced.status, 0);
    EXPECT_THAT(forced.err, HasSubstr("1 node could not be asked, and may still have it"));
    EXPECT_EQ(holder.end().status, 75);
    node(1).resume();
}

TEST_F(Quorum, OnlyTheNodesThatAreAwayAreNamedAsSuch) {
    std::string all;
    for (const std::string& each : urls())
        all += (all.empty() ? "" : " ") + each + "?lease_time=1s";
    ASSERT_TRUE(eventually([&] { return uptime_of(0) >= 3; })) << "it does not vote before";
    node(1).stop();
    node(2).stop();
    const std::string no = run({"run", "-n", "job", "true"}, all).err;
    EXPECT_THAT(no,
                AllOf(HasSubstr("node 2: "), HasSubstr("node 3: "), Not(HasSubstr("node 1: "))));
    const ended told = run({"doctor", "--json"}, all);
    EXPECT_EQ(told.status, 69);
    const boost::json::value document = boost::json::parse(told.out);
    const boost::json::array& findings = document.at("findings").as_array();
    ASSERT_EQ(findings.size(), 2U);
    const std::string votes = findings[0].at("what").as_string().c_str();
    EXPECT_THAT(votes, AllOf(StartsWith("no majority of the 3 nodes can vote; "),
                             Not(HasSubstr("node 1: ")), Not(HasSubstr("Another client"))));
    EXPECT_THAT(findings[1].at("what").as_string().c_str(),
                StartsWith("1 of 3 nodes replied. These nodes did not reply: "));
}

TEST_F(Quorum, JsonHasTheFieldsOfTheHelp) {
    using names = std::set<std::string>;
    const names of_quorum{"name", "held", "majority", "nodes"};
    const names of_node{"server", "reached", "held", "lock", "failure"};
    const auto told = [&](std::vector<std::string> verb) {
        return boost::json::parse(run(with_urls(std::move(verb))).out);
    };
    const boost::json::value free = told({"inspect", "--json", "job"});
    EXPECT_EQ(fields_of(free), of_quorum);
    EXPECT_EQ(fields_of(free.at("nodes").at(0)), of_node);
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_TRUE(eventually([&] { return is_held_at(0) && is_held_at(1) && is_held_at(2); }));
    const boost::json::value held = told({"inspect", "--json", "job"});
    EXPECT_EQ(fields_of(held), of_quorum);
    EXPECT_EQ(fields_of(held.at("nodes").at(0)), of_node);
    EXPECT_EQ(fields_of(held.at("nodes").at(0).at("lock")), fields_of_lock);
    const boost::json::value list = told({"ls", "--json"});
    EXPECT_EQ(fields_of(list), (names{"locks", "complete", "nodes", "majority", "unreachable"}));
    names of_listed = fields_of_lock;
    of_listed.insert("nodes");
    EXPECT_EQ(fields_of(list.at("locks").at(0)), of_listed);
    for (const bool released : {true, false}) {
        const boost::json::value taken = told({"unlock", "--force", "--yes", "--json", "job"});
        EXPECT_EQ(fields_of(taken),
                  (names{"name", "released", "released_nodes", "majority", "was"}));
        EXPECT_EQ(taken.at("released").as_bool(), released);
        EXPECT_EQ(fields_of(taken.at("was").at(0)), of_node);
    }
    EXPECT_EQ(fields_of(told({"wait", "--json", "job"})), (names{"name", "free", "waited_ms"}));
}

TEST_F(Quorum, UnlockWithoutAMajorityDoesNotSayThatTheLockWasFree) {
    node(1).stop();
    node(2).stop();
    const ended told = run(with_urls({"unlock", "--force", "--yes", "job"}));
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err,
                StartsWith("holdfast: 'job' is on none of the nodes that could be asked\n"
                           "holdfast: 2 nodes could not be asked, and may still have it"));
}

TEST_F(Quorum, ALostMajorityStopsTheCommand) {
    program holder{with_urls(
        {"run", "--lease", "9", "--nodes-remember", "job", "sh", "-c", "echo held; sleep 60"})};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run(with_urls({"unlock", "--force", "--yes", "job"})).status, 0);
    EXPECT_EQ(holder.end().status, 75);
}

TEST_F(Quorum, InspectAndLsSayWhichNodesHoldIt) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_TRUE(eventually([&] { return is_held_at(0) && is_held_at(1) && is_held_at(2); }));
    node(2).stop();
    const ended told = run(with_urls({"inspect", "--json", "job"}));
    EXPECT_EQ(told.status, 0);
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_TRUE(all.at("held").as_bool());
    EXPECT_EQ(all.at("majority").as_int64(), 2);
    EXPECT_EQ(all.at("nodes").as_array().size(), 3U);
    const ended listed = run(with_urls({"ls", "--json"}));
    EXPECT_EQ(listed.status, 0) << listed.err;
    const boost::json::value locks = boost::json::parse(listed.out);
    EXPECT_EQ(locks.at("locks").as_array().at(0).at("nodes").as_array().size(), 2U);
    EXPECT_EQ(locks.at("unreachable").as_array().size(), 1U);
    EXPECT_EQ(run(with_urls({"wait", "-w", "0", "job"})).status, 1);
}

TEST_F(Quorum, InspectSaysFreeWhereNobodyHasIt) {
    const ended told = run(with_urls({"inspect", "job"}));
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, StartsWith("'job' is free: held on 0 of 3 nodes\n"));
    EXPECT_EQ(run(with_urls({"wait", "job"})).status, 0);
    const ended none = run(with_urls({"unlock", "--force", "--yes", "job"}));
    EXPECT_EQ(none.status, 1);
    EXPECT_EQ(none.err, "holdfast: 'job' was free\n");
}

TEST_F(Quorum, AnotherProgramsStringsAreTakenAwayOnlyIfTheyAreSaidToBeLocks) {
    for (std::size_t i = 0; i < 3; ++i)
        node(i).command({"SET", "job", "6fdc9f0e70e311eeb9620242ac120002"});
    const ended refused = run(with_urls({"unlock", "--force", "--yes", "job"}));
    EXPECT_EQ(refused.status, 65);
    EXPECT_THAT(refused.err, HasSubstr("give --type token"));
    const ended told = run(with_urls({"unlock", "--force", "--yes", "--json", "job"}));
    EXPECT_EQ(told.status, 65);
    EXPECT_FALSE(boost::json::parse(told.out).at("released").as_bool());
    EXPECT_TRUE(is_held_at(0) && is_held_at(1) && is_held_at(2));
    const ended taken = run(with_urls({"unlock", "--force", "--yes", "--type", "token", "job"}));
    EXPECT_EQ(taken.status, 0) << taken.err;
    EXPECT_FALSE(is_held_at(0) || is_held_at(1) || is_held_at(2));
}

TEST_F(Quorum, StringsOfAnyFormAreTakenAwayIfTheyAreSaidToBeLocks) {
    for (std::size_t i = 0; i < 3; ++i)
        node(i).command({"SET", "job", "locked"});
    const ended refused = run(with_urls({"unlock", "--force", "--yes", "job"}));
    EXPECT_EQ(refused.status, 65);
    EXPECT_EQ(refused.err, "holdfast: 'job' is not a lock on most of the nodes\n");
    EXPECT_TRUE(is_held_at(0) && is_held_at(1) && is_held_at(2));
    const ended taken = run(with_urls({"unlock", "--force", "--yes", "--type", "token", "job"}));
    EXPECT_EQ(taken.status, 0) << taken.err;
    EXPECT_FALSE(is_held_at(0) || is_held_at(1) || is_held_at(2));

    node(0).command({"SET", "seats", "5"});
    const ended counter =
        run(with_urls({"unlock", "--force", "--yes", "--type", "token", "seats"}));
    EXPECT_NE(counter.status, 0);
    EXPECT_THAT(counter.err, testing::Not(HasSubstr("released meanwhile")));
    EXPECT_EQ(node(0).command({"GET", "seats"}).text, "5");
}

TEST_F(Quorum, TheDoctorSaysWhichNodeIsAway) {
    node(0).stop();
    const ended told = run(with_urls({"doctor", "--json"}));
    EXPECT_EQ(told.status, 1) << told.err;
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_EQ(all.at("nodes").as_array().size(), 3U);
    EXPECT_THAT(told.out,
                HasSubstr("2 of 3 nodes replied. These nodes did not reply: " + urls()[0] + "\""));
}

TEST_F(Quorum, DoctorOfAHealthyQuorumReportsAllVotesAndExitsWith0) {
    std::string all;
    for (const std::string& each : urls())
        all += (all.empty() ? "" : " ") + each + "?lease_time=6s";
    // A node votes when a lease is over since it has started.
    ASSERT_TRUE(eventually([&] { return uptime_of(2) >= 8; }));
    for (int i = 0; i < 5; ++i) {
        const ended told = run({"doctor"}, all);
        EXPECT_EQ(told.status, 0) << told.out;
        EXPECT_THAT(told.out, HasSubstr("3 of 3 nodes voted for the lock."));
    }
}

TEST_F(Quorum, OneServerByTwoAddressesIsFound) {
    const std::string again = urls()[1] + "?label=again";
    const std::vector<std::string> three{"--url", urls()[0], "--url", urls()[1], "--url", again};
    std::vector<std::string> words{"run", "--lease", "1"};
    words.insert(words.end(), three.begin(), three.end());
    words.insert(words.end(), {"job", "true"});
    const ended wrong = run(words);
    EXPECT_EQ(wrong.status, 64);
    EXPECT_THAT(wrong.err, HasSubstr("members 2 and 3 are the same lock on the same server"));
    words = three;
    words.insert(words.begin(), "doctor");
    EXPECT_THAT(run(words).out, HasSubstr("Replace one of the two URLs by the URL of"));
}

TEST_F(Quorum, TheCommandIsGivenAllItsUrls) {
    const ended told =
        run(with_urls({"run", "--lease", "20", "--nodes-remember", "job", "sh", "-c",
                       "printenv HOLDFAST_URL; exec '" + program_path() + "' inspect job"}));
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out,
                StartsWith(urls()[2] + " " + urls()[1] + " " + urls()[0] + "\n'job' is held"));
}

} // namespace
} // namespace holdfast::cli_test
