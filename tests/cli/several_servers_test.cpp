// SPDX-License-Identifier: Apache-2.0
// Every verb at a cluster and behind Sentinels, and what happens when another server takes over.
#include "cli/json_shape.hpp"
#include "cli/program.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_replicas.hpp"

#include <boost/json.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {

// The program at a cluster, and behind Sentinels: one of each for all tests of a process, since
// they take seconds to make.

inline std::string listed_addresses(const std::vector<redis::server_address>& all) {
    std::string list;
    for (const redis::server_address& each : all)
        list += (list.empty() ? "" : ",") + each.host + ":" + std::to_string(each.port);
    return list;
}

inline std::string url_of(support::redis_cluster& all) {
    return "redis+cluster://" + listed_addresses(all.client_options().cluster->addresses);
}
inline std::string url_of(support::redis_sentinels& all) {
    return "redis+sentinel://" + listed_addresses(all.client_options().sentinel->addresses) + "/" +
           support::redis_sentinels::service;
}

/// What the tests do with either of them.
class deployment {
public:
    virtual ~deployment() = default;
    virtual std::string url() = 0;
    virtual void restore() = 0;
    virtual support::redis_server& keeper_of(const std::string& name) = 0;
    virtual void replace_keeper_of(const std::string& name) = 0;
};

class cluster_deployment final : public deployment {
public:
    std::string url() override { return url_of(all); }
    void restore() override { all.restore(); }
    support::redis_server& keeper_of(const std::string& name) override { return all.node_of(name); }
    void replace_keeper_of(const std::string& name) override {
        all.failover(all.replica_of(all.node_of(name)));
    }
    support::redis_cluster all{};
};

class sentinel_deployment final : public deployment {
public:
    std::string url() override { return url_of(all); }
    void restore() override { all.restore(); }
    support::redis_server& keeper_of(const std::string&) override { return all.primary(); }
    void replace_keeper_of(const std::string&) override { all.failover(); }
    support::redis_sentinels all{};
};

template <typename Deployment>
Deployment& the_only() {
    static const auto one = std::make_unique<Deployment>();
    one->restore();
    return *one;
}

enum class deployed { cluster, sentinels };

inline void PrintTo(deployed which, std::ostream* out) {
    *out << (which == deployed::cluster ? "cluster" : "sentinels");
}

class on_several_servers : public ::testing::TestWithParam<deployed> {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            if (GetParam() == deployed::cluster)
                servers_ = &the_only<cluster_deployment>();
            else
                servers_ = &the_only<sentinel_deployment>();
        });
    }

    bool is_cluster() const { return GetParam() == deployed::cluster; }
    deployment& servers() { return *servers_; }
    std::string url() { return servers_->url(); }
    bool is_locked(const std::string& name = "job") {
        return servers_->keeper_of(name).command({"EXISTS", name}).integer == 1;
    }
    static std::vector<std::string> until_closed(std::vector<std::string> options = {}) {
        options.insert(options.begin(), "run");
        for (const char* word : {"job", "--", "sh", "-c", "echo held; read nothing; echo done"})
            options.emplace_back(word);
        return options;
    }

private:
    deployment* servers_ = nullptr;
};

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SeveralServers : public on_several_servers {};

INSTANTIATE_TEST_SUITE_P(Of, SeveralServers,
                         ::testing::Values(deployed::cluster, deployed::sentinels),
                         ::testing::PrintToStringParamName());

TEST_P(SeveralServers, EachVerbIsAtHomeThere) {
    EXPECT_EQ(run_when_reached({"run", "-n", "job", "--", "true"}, url()).status, 0);
    EXPECT_EQ(run({"ls"}, url()).status, 0);
    EXPECT_EQ(run({"inspect", "job"}, url()).out, "'job' is free\n");
    EXPECT_EQ(run({"wait", "-w", "0", "job"}, url()).status, 0);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}, url()).err, "holdfast: 'job' was free\n");
    EXPECT_EQ(run({"latch", "set", "gate", "2"}, url()).status, 0);
    EXPECT_EQ(run({"latch", "down", "gate"}, url()).status, 0);
    EXPECT_EQ(run({"latch", "count", "gate"}, url()).out, "1\n");
    EXPECT_THAT(run({"bench", "-t", "10ms", "--replicas", "1"}, url()).out,
                HasSubstr(is_cluster() ? "a lock each, spread over the cluster" : "a lock each "));
}

TEST_P(SeveralServers, JsonHasTheFieldsOfTheHelp) {
    json_has_one_shape(url(), "shaped");
}

TEST_P(SeveralServers, NamesThatLsPrintsWorkWithEachVerb) {
    const std::string shops_url = url() + "?prefix=shop:";
    program holder{until_closed({"--lease", "3"}), shops_url};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_locked("shop:job"));
    EXPECT_TRUE(eventually([&] { return run({"ls", "-1"}, shops_url).out == "job\n"; }));
    const ended told = run({"inspect", "--json", "job"}, shops_url);
    EXPECT_EQ(boost::json::parse(told.out).at("name").as_string(), "job");
    EXPECT_EQ(run({"wait", "-w", "0", "job"}, shops_url).status, 1);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}, shops_url).status, 0);
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(SeveralServers, EachLockOfRunIsTakenThere) {
    const std::vector<std::vector<std::string>> all{{"-s"},
                                                    {"-x"},
                                                    {"--fair"},
                                                    {"--fenced"},
                                                    {"--spin"},
                                                    {"--slots", "2"},
                                                    {"--rate", "9/1m"},
                                                    {"--with", "another", "--with", "third"},
                                                    {"--replicas", "1"}};
    for (const std::vector<std::string>& options : all) {
        SCOPED_TRACE(options.front());
        std::vector<std::string> words{"run"};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"-w", "5", "of" + options.front(), "--", "echo", "done"});
        const ended fine = run(words, url());
        EXPECT_EQ(fine.status, 0) << fine.err;
        EXPECT_EQ(fine.out, "done\n");
    }
}

TEST_P(SeveralServers, AHolderIsSeenAndKeepsOthersOut) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_locked());
    EXPECT_EQ(run_when_reached({"run", "-n", "-E", "9", "job", "--", "true"}, url()).status, 9);
    EXPECT_EQ(run({"wait", "-w", "0", "job"}, url()).status, 1);
    EXPECT_TRUE(eventually([&] { return run({"ls", "--names"}, url()).out == "job\n"; }));
    const boost::json::value told =
        boost::json::parse(run({"inspect", "--json", "job"}, url()).out);
    EXPECT_TRUE(told.at("held").as_bool());
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}, url()).status, 0);
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(SeveralServers, AWaiterIsWokenByTheRelease) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{{"run", "job", "--", "echo", "then"}, url() + "?poll_bound=1h"};
    const std::string channel = "redisson_lock__channel:{job}";
    const char* const count = is_cluster() ? "SHARDNUMSUB" : "NUMSUB";
    ASSERT_TRUE(eventually([&] {
        return servers().keeper_of("job").command({"PUBSUB", count, channel}).items.at(1).integer >
               0;
    }));
    holder.close_stdin();
    EXPECT_EQ(waiter.line(), "then");
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(SeveralServers, ReplicasThatAreMissingAreTold) {
    const ended few = run({"run", "-n", "--replicas", "9", "job", "--", "true"}, url());
    EXPECT_EQ(few.status, 69);
    EXPECT_THAT(few.err, AllOf(StartsWith("holdfast: " + url() + " did not give the lock: "),
                               HasSubstr("of 9 replicas confirmed the write in time")));
    EXPECT_TRUE(eventually([&] { return !is_locked(); }));
}

TEST_P(SeveralServers, TheCommandOutlivesAFailoverAndIsToldOfIt) {
    program holder{until_closed({"-v", "--lease", "20"}), url()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_EQ(servers().keeper_of("job").command({"WAIT", "1", "5000"}).integer > 0, true);
    servers().replace_keeper_of("job");
    EXPECT_TRUE(eventually([&] { return holder.said("locks have moved to 127.0.0.1:"); }));
    std::int64_t left = servers().keeper_of("job").command({"PTTL", "job"}).integer;
    EXPECT_TRUE(eventually([&] { // renewed at the new one
        const std::int64_t before =
            std::exchange(left, servers().keeper_of("job").command({"PTTL", "job"}).integer);
        return left > before;
    }));
    holder.close_stdin();
    const ended fine = holder.end();
    EXPECT_THAT(fine.out, HasSubstr("done"));
    EXPECT_FALSE(is_locked());
}

TEST_P(SeveralServers, UnlockWaitsForTheNewPrimary) {
    program holder{until_closed({"--lease", "20"}), url()};
    ASSERT_EQ(holder.line(), "held");
    ASSERT_GT(servers().keeper_of("job").command({"WAIT", "1", "5000"}).integer, 0);
    servers().keeper_of("job").stop();
    const ended forced = run({"unlock", "--force", "--yes", "job"}, url());
    EXPECT_EQ(forced.status, 0) << forced.err;
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(SeveralServers, VerbsThatReadAndLatchesWaitForTheNewPrimary) {
    servers().keeper_of("job").stop();
    program looker{{"inspect", "job"}, url()}, waiter{{"wait", "job"}, url()};
    program setter{{"latch", "set", "{job}", "1"}, url()};
    EXPECT_EQ(looker.end().out, "'job' is free\n");
    EXPECT_EQ(waiter.end().status, 0);
    EXPECT_EQ(setter.end().status, 0);
}

TEST_P(SeveralServers, BenchWaitsForTheNewPrimary) {
    servers().keeper_of("job").stop();
    const ended measured = run({"bench", "-t", "10ms"}, url());
    EXPECT_EQ(measured.status, 0) << measured.err;
}

TEST_P(SeveralServers, TheCommandIsGivenTheUrl) {
    const ended told = run({"run", "job", "--", "sh", "-c",
                            "printenv HOLDFAST_URL; exec '" + program_path() + "' inspect job"},
                           url());
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out, StartsWith(url() + "\n"));
    EXPECT_THAT(told.out, HasSubstr("name       job"));
}

TEST_P(SeveralServers, TheDoctorLooksAtAllOfThem) {
    const ended told = run({"doctor", "--json"}, url());
    EXPECT_EQ(told.status, 1) << "the servers of the tests have no append-only files";
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_EQ(all.at("worst").as_string(), "warning") << told.out;
    EXPECT_THAT(told.out,
                AllOf(HasSubstr("\"topic\":\"failover\""), HasSubstr("\"topic\":\"topology\""),
                      HasSubstr("\"topic\":\"clocks\"")));
}

class Cluster : public on_several_servers {
protected:
    support::redis_cluster& cluster() { return the_only_cluster(); }
    static support::redis_cluster& the_only_cluster() { return the_only<cluster_deployment>().all; }
};
INSTANTIATE_TEST_SUITE_P(Of, Cluster, ::testing::Values(deployed::cluster),
                         ::testing::PrintToStringParamName());

TEST_P(Cluster, IsListedAsAWholeAndWhatIsMissingIsTold) {
    support::redis_cluster& all = cluster();
    const std::string holder = "8743c9c0-0795-4907-87fd-6c719a6b4586:49";
    std::vector<std::string> names; // one on each primary
    for (int slot : {0, 6000, 12000}) {
        std::string name = "on";
        while (&all.node_of(name) != &all.primary_of(slot))
            name += '.';
        ASSERT_EQ(all.node_of(name).command({"HSET", name, holder, "1"}).integer, 1);
        names.push_back(name);
    }
    std::ranges::sort(names);
    EXPECT_EQ(run({"ls", "--names"}, url()).out,
              names[0] + "\n" + names[1] + "\n" + names[2] + "\n");

    support::redis_server& gone = all.node_of(names[1]);
    all.replica_of(gone).stop();
    gone.stop();
    const ended part = run({"ls", "--names"}, url() + "?command_timeout=1s");
    EXPECT_EQ(part.status, 0);
    EXPECT_EQ(part.out, names[0] + "\n" + names[2] + "\n");
    EXPECT_THAT(part.err,
                AllOf(HasSubstr("the list is not complete: a server could not be asked: "),
                      HasSubstr(":" + std::to_string(all.port_of(gone)))));
    const ended told = run({"ls", "--json"}, url() + "?command_timeout=1s");
    EXPECT_FALSE(boost::json::parse(told.out).at("complete").as_bool());
    EXPECT_EQ(boost::json::parse(told.out).at("unreachable").as_array().size(), 1u);
}

TEST_P(Cluster, EveryVerbAtTheUrlOfOneNodeNamesTheUrlOfTheCluster) {
    support::redis_server& node = cluster().primary_of(0);
    const std::string address = "127.0.0.1:" + std::to_string(cluster().port_of(node));
    const std::string holder = "8743c9c0-0795-4907-87fd-6c719a6b4586:49";
    cluster().node_of("job").command({"HSET", "job", holder, "1"});
    const std::vector<std::vector<std::string>> verbs{
        {"run", "-n", "job", "--", "true"},
        {"run", "-n", "--with", "other", "job", "--", "true"},
        {"ls", "--json"},
        {"ls", "--type", "permits"},
        {"inspect", "job"},
        {"wait", "-w", "0", "job"},
        {"unlock", "--force", "--yes", "job"},
        {"latch", "set", "gate", "1"},
        {"bench", "-t", "10ms"},
        {"doctor"}};
    for (const std::vector<std::string>& verb : verbs) {
        SCOPED_TRACE(verb.front());
        const ended refused = run(verb, "redis://" + address);
        EXPECT_EQ(refused.status, 69);
        EXPECT_THAT(refused.out + refused.err, HasSubstr("it is a node of a cluster"));
        EXPECT_EQ(refused.out.empty(), verb.front() != "doctor") << refused.out;
    }
    EXPECT_THAT(run({"ls"}, "redis://" + address).err, HasSubstr("redis+cluster://" + address));
    const std::string replica =
        "127.0.0.1:" + std::to_string(cluster().port_of(cluster().replica_of(node)));
    EXPECT_THAT(run({"ls"}, "redis://" + replica).err, HasSubstr("redis+cluster://" + replica));
    cluster().node_of("job").command({"DEL", "job"});
}

/// Each of them is a node of the quorum.
TEST(QuorumOfClusters, IsAQuorum) {
    std::array<std::unique_ptr<support::redis_cluster>, 3> all;
    support::make_or_skip([&] {
        for (auto& each : all)
            each = std::make_unique<support::redis_cluster>(
                support::servers().front(),
                support::redis_cluster::options{.primaries = 1, .replicas = 0});
    });
    std::vector<std::string> words{"run", "--nodes-remember"};
    std::vector<std::string> urls;
    for (auto& each : all)
        urls.insert(urls.end(), {"--url", url_of(*each)});
    words.insert(words.end(), urls.begin(), urls.end());
    words.insert(words.end(), {"job", "--", "sh", "-c", "echo held; read nothing"});
    program holder{words};
    ASSERT_EQ(holder.line(), "held");
    std::vector<std::string> look{"inspect", "job"};
    look.insert(look.begin() + 1, urls.begin(), urls.end());
    EXPECT_TRUE(eventually(
        [&] { return run(look).out.find("held on 3 of 3 nodes") != std::string::npos; }));
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 1); // of read
}

} // namespace
} // namespace holdfast::cli_test
