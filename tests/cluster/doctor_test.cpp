// SPDX-License-Identifier: Apache-2.0
// What the doctor finds in a cluster.
#include "support/diagnosed.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"
#include "support/source_tree.hpp"

#include <holdfast/client.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/mutex.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::diagnosed;
using support::eventually;
using support::redis_cluster;
using support::redis_server;
using support::said_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ClusterDoctor : public support::on_each_topology<redis_cluster> {
protected:
    void TearDown() override {
        for (std::size_t i = 0; !IsSkipped() && i < servers().size(); ++i)
            if (servers().node(i).is_up())
                servers().node(i).command({"ACL", "SETUSER", "default", "+@all"});
    }

    diagnosis examined(unsigned replicas = 0, duration lease = 30s) {
        return diagnosed(servers().client_options(), replicas, lease);
    }
    std::string address_of(const redis_server& one) {
        return "127.0.0.1:" + std::to_string(servers().port_of(one));
    }
    void deny(const std::string& right) {
        for (std::size_t i = 0; i < servers().size(); ++i)
            servers().node(i).command({"ACL", "SETUSER", "default", "-" + right});
    }
    redis_server& first_primary() { return servers().primary_of(0); }
};
HOLDFAST_ON_EACH_SERVER(ClusterDoctor);

TEST_P(ClusterDoctor, SaysWhatIsThere) {
    diagnosis found;
    EXPECT_TRUE(eventually([&] { // nodes tell of a replica when they have heard what it has
        found = examined();
        return said_of("topology", found).find("has no replica") == std::string::npos;
    }));
    EXPECT_THAT(said_of("topology", found),
                AllOf(HasSubstr("fine: The cluster has 3 primaries: "),
                      HasSubstr(address_of(first_primary()) + " (replicas: "),
                      Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("failover", found), HasSubstr("fine: A failover takes about 1.8 s "
                                                      "(cluster-node-timeout is 500 ms)"));
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: There are replicas, but no"));
    EXPECT_THAT(said_of("persistence", found),
                AllOf(HasSubstr("warning: "), HasSubstr("This finding is about all 6 servers.")));
    EXPECT_THAT(said_of("clocks", found), HasSubstr("fine: "));
    EXPECT_THAT(said_of("listening", found),
                AllOf(HasSubstr("can subscribe to notifications"), HasSubstr("(SPUBLISH)"),
                      Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("rights", found),
                HasSubstr("fine: The doctor took, renewed and released the lock"));
    EXPECT_EQ(found.worst(), severity::warning);
}

TEST_P(ClusterDoctor, FindsAFailoverThatTakesLongerThanALease) {
    EXPECT_THAT(
        said_of("failover", examined(0, 700ms)),
        HasSubstr("danger: Every held lock is lost in a failover. A failover takes about 1.8 s "
                  "(cluster-node-timeout is 500 ms). A lock with a lease time of 700 ms "
                  "survives a failover of at most 455 ms."));
}

TEST_P(ClusterDoctor, FindsAnOpenSlot) {
    servers().begin_move(93, servers().other_primary(servers().primary_of(93)));
    EXPECT_THAT(
        said_of("topology", examined()),
        AllOf(HasSubstr("danger: Slots are being moved at " + address_of(servers().primary_of(93)) +
                        " (their number is 1, and the first is slot 93)"),
              HasSubstr("TRYAGAIN")));
    servers().call_off_moves();
    EXPECT_THAT(said_of("topology", examined()), Not(HasSubstr("danger")));
}

TEST_P(ClusterDoctor, CountsTheReplicasThatAreRequired) {
    EXPECT_THAT(said_of("replicas", examined(1)),
                AllOf(HasSubstr("note: "),
                      HasSubstr(" has 1 of 1 required replicas online. If a replica fails"),
                      Not(HasSubstr("warning")), Not(HasSubstr("danger"))));
    EXPECT_THAT(said_of("replicas", examined(2)),
                AllOf(HasSubstr("danger: "),
                      HasSubstr(" 1 of 2 required replicas online. Therefore no lock is"),
                      HasSubstr("danger: No lock is granted: 1 of 2 replicas")));
    redis_server& primary = first_primary();
    servers().replica_of(primary).stop();
    EXPECT_TRUE(eventually([&] {
        return said_of("replicas", examined(1))
                   .find("danger: The primary " + address_of(primary) + " has 0 of 1 required") !=
               std::string::npos;
    }));
}

TEST_P(ClusterDoctor, FindsThatReplicasMayMigrate) {
    const auto allow = [&](const char* whether) {
        first_primary().command({"CONFIG", "SET", "cluster-allow-replica-migration", whether});
    };
    allow("yes");
    EXPECT_THAT(said_of("replicas", examined(1)), HasSubstr("warning: Replicas may migrate"));
    EXPECT_THAT(said_of("replicas", examined(0)), Not(HasSubstr("warning")));
    allow("no");
}

TEST_P(ClusterDoctor, FindsWhoListensInAnotherForm) {
    support::redis_connection old_jvm{first_primary().socket_path()};
    old_jvm.command({"SUBSCRIBE", "redisson_lock__channel:{elsewhere}"});
    EXPECT_THAT(said_of("listening", examined()),
                AllOf(HasSubstr("warning: Other clients have subscribed to plain messages at " +
                                address_of(first_primary())),
                      HasSubstr("pubsub=both")));
    redis::options both = servers().client_options();
    both.pubsub = redis::pubsub_form::both;
    EXPECT_THAT(said_of("listening", diagnosed(both)), Not(HasSubstr("warning")));
}

TEST_P(ClusterDoctor, SaysWhatItWasNotAllowedToAsk) {
    deny("config|get");
    deny("cluster|nodes");
    deny("pubsub|channels");
    const diagnosis found = examined();
    EXPECT_THAT(said_of("failover", found), HasSubstr("note: CONFIG GET cluster-node-timeout"));
    EXPECT_THAT(said_of("topology", found), HasSubstr("note: CLUSTER NODES is denied at "));
    EXPECT_THAT(said_of("listening", found), HasSubstr("note: PUBSUB is denied at "));
}

TEST_P(ClusterDoctor, FindsThatReplicasCannotBeRequired) {
    deny("wait");
    EXPECT_THAT(said_of("replicas", examined()), HasSubstr("note: WAIT is refused at "));
    EXPECT_THAT(said_of("replicas", examined(1)), AllOf(HasSubstr("danger: WAIT is refused at "),
                                                        HasSubstr("ACL SETUSER USERNAME +wait")));
}

TEST_P(ClusterDoctor, TellsTheUrlToWhomItWasGivenAsOneServer) {
    redis_server& node = first_primary();
    redis::options one = servers().client_options();
    one.cluster.reset();
    one.host = "127.0.0.1";
    one.port = servers().port_of(node);
    std::string name = "here";
    while (&servers().node_of(name) != &node)
        name += '.';
    EXPECT_THAT(said_of("reach", diagnosed(one, 0, 30s, name)),
                AllOf(HasSubstr("danger: "), HasSubstr("it is a node of a cluster"),
                      HasSubstr("redis+cluster://" + address_of(node))));
}

// The rights of docs/security in a cluster: the two files are sufficient for every type of lock,
// and an error names each missing right.

using ::testing::IsEmpty;
using rules = std::vector<std::string>;

class ClusterRights : public support::on_each_topology<redis_cluster> {
protected:
    void grant(const rules& all) {
        for (std::size_t i = 0; i < servers().size(); ++i)
            ASSERT_EQ(servers().node(i).command(support::acl_setuser("app", "its", all)).text,
                      "OK");
    }

    client connect() {
        redis::options where = servers().client_options();
        where.user = "app";
        where.password = "its";
        holdfast::options how;
        how.store = redis::make_store(where);
        how.unavailable_timeout = 100ms;
        how.observer = told_;
        return client{std::move(how)};
    }

    /// Takes and releases a lock that another client waits for. Returns the error text, if there is
    /// one, and the events that the observer got.
    std::string said_by_lock(const std::string& name) {
        told_->clear();
        client first = connect(), second = connect();
        mutex mine{first, name}, others{second, name};
        std::string said = support::thrown_by([&] {
                               mine.lock();
                               (void)others.try_lock_for(300ms);
                               mine.unlock();
                               (void)mine.force_unlock();
                           }).text;
        first.close();
        second.close();
        for (const support::told& each : told_->all())
            said += each.text + "\n";
        return said;
    }

    rules both_ = [] {
        rules all = support::rules_of_acl_file("app:");
        for (std::string& each : support::rules_of_acl_file("app:", "cluster.acl"))
            all.push_back(std::move(each));
        return all;
    }();
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterRights);

TEST_P(ClusterRights, AreEnoughForEveryType) {
    grant(both_);
    client first = connect(), second = connect();
    const auto in_turns = [](auto& mine, auto& others) {
        mine.lock();
        EXPECT_FALSE(others.try_lock_for(20ms));
        mine.unlock();
        EXPECT_TRUE(others.try_lock_for(5s));
        others.unlock();
    };
    const std::vector<std::function<void()>> all{
        [&] {
            mutex a{first, "app:a"}, b{second, "app:a"};
            in_turns(a, b);
        },
        [&] {
            fair_mutex a{first, "app:{b}"}, b{second, "app:{b}"};
            in_turns(a, b);
        },
        [&] {
            fenced_mutex a{first, "app:c"}, b{second, "app:c"};
            in_turns(a, b);
        },
        [&] {
            shared_mutex a{first, "app:d"}, b{second, "app:d"};
            in_turns(a, b);
        },
        [&] {
            shared_mutex a{first, "app:e"}, b{second, "app:e"};
            in_turns(a.shared(), b);
        },
        [&] {
            spin_mutex a{first, "app:f"}, b{second, "app:f"};
            in_turns(a, b);
        },
        [&] {
            token_mutex a{first, "app:g"}, b{second, "app:g"};
            in_turns(a, b);
        },
        [&] {
            counting_semaphore seats{first, "app:h"};
            EXPECT_TRUE(seats.try_set_permits(1));
            seats.acquire();
            seats.release();
            EXPECT_TRUE(seats.erase());
        },
        [&] {
            latch gate{first, "app:i"};
            EXPECT_TRUE(gate.try_set_count(1));
            gate.count_down();
            gate.wait();
        },
        [&] {
            leased_semaphore seats{first, "app:j"};
            EXPECT_TRUE(seats.try_set_permits(1));
            seats.acquire().unlock();
            (void)seats.erase();
        },
        [&] {
            rate_limiter mails{first, "app:k"};
            EXPECT_TRUE(mails.try_set_rate({.permits = 5, .per = 1min}));
            mails.acquire();
            (void)mails.erase();
        }};
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_THAT(support::thrown_by(all[i]).text, IsEmpty()) << "number " << i;
    EXPECT_EQ(told_->count(event_kind::impaired), 0u) << told_->last(event_kind::impaired)->text;
}

TEST_P(ClusterRights, ThatAreMissingAreNamed) {
    // Without +cluster|myid a client does not notice a reused address, and goes on.
    const rules silent{"+asking", "+sunsubscribe", "+pubsub|shardnumsub", "+cluster|myid"};
    for (const std::string& taken : support::rules_of_acl_file("app:", "cluster.acl")) {
        rules rest = both_;
        ASSERT_EQ(std::erase(rest, taken), 1u);
        grant(rest);
        const std::string said = said_by_lock("app:stock");
        if (std::ranges::count(silent, taken) > 0)
            EXPECT_THAT(said, Not(HasSubstr("granted"))) << "without " << taken;
        else
            EXPECT_THAT(said, AllOf(HasSubstr("granted: "), HasSubstr(taken)))
                << "without " << taken;
    }
}

TEST_P(ClusterRights, AreNotNeededForPlainMessages) {
    rules rest = both_;
    for (const char* const each : {"+spublish", "+ssubscribe", "+sunsubscribe"})
        ASSERT_EQ(std::erase(rest, each), 1u);
    grant(rest);
    redis::options where = servers().client_options();
    where.user = "app";
    where.password = "its";
    where.pubsub = redis::pubsub_form::plain;
    holdfast::options how;
    how.store = redis::make_store(where);
    how.observer = told_;
    client first{how}, second{how};
    mutex mine{first, "app:stock"}, others{second, "app:stock"};
    EXPECT_THAT(support::thrown_by([&] {
                    mine.lock();
                    (void)others.try_lock_for(50ms);
                    mine.unlock();
                }).text,
                IsEmpty());
    EXPECT_EQ(told_->count(event_kind::impaired), 0u);
}

// A URL for one server that leads to a node of a cluster.

class OneAddressOfACluster : public support::on_each_topology<support::redis_cluster> {};
HOLDFAST_ON_EACH_SERVER(OneAddressOfACluster);

TEST_P(OneAddressOfACluster, IsToldWithTheUrlOfTheCluster) {
    support::redis_server& node = servers().node_of("here");
    std::string there = "there";
    while (&servers().node_of(there) == &node)
        there += '!';
    redis::options where;
    where.port = servers().port_of(node);
    holdfast::options how;
    how.store = redis::make_store(where);
    client home{how};
    mutex lock{home, there};
    for (int i = 0; i < 10; ++i) { // over the shared connection, and over a blocking connection
        const auto why = support::thrown_by([&] { lock.lock(); });
        EXPECT_EQ(why.code, make_error_code(store_errc::wrong_address)) << why.text;
        EXPECT_THAT(why.text, HasSubstr("redis+cluster://127.0.0.1:" + std::to_string(where.port)));
    }
}

} // namespace
} // namespace holdfast
