// SPDX-License-Identifier: Apache-2.0
// That the replicas of the tests do what other tests rely on.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"
#include "support/server_info.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using support::eventually;
using support::redis_replicas;
using support::redis_server;

class Replicas : public support::on_each_kind_of_server {
protected:
    static std::string get(redis_server& at, const std::string& key = "k") {
        return at.command({"GET", key}).text;
    }
    static void set(redis_server& at, const std::string& value) {
        ASSERT_EQ(at.command({"SET", "k", value}).text, "OK");
    }
    static std::int64_t confirmed(redis_server& at, const std::string& wanted = "1") {
        return at.command({"WAIT", wanted, "200"}).integer;
    }
};
HOLDFAST_ON_EACH_SERVER(Replicas);

TEST_P(Replicas, HaveWhatThePrimaryHas) {
    redis_replicas both{GetParam(), {.replicas = 2}};
    set(both.primary(), "a");
    EXPECT_EQ(confirmed(both.primary(), "2"), 2);
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica(0)), "a");
    EXPECT_EQ(get(both.replica(1)), "a");
    EXPECT_THAT(both.replica().command({"SET", "k", "b"}).text, testing::StartsWith("READONLY"));
}

TEST_P(Replicas, ChangePlacesByFailover) {
    redis_replicas all{GetParam(), {.replicas = 2}};
    redis_server& old = all.primary();
    set(old, "a");
    all.failover(all.replica(1));
    EXPECT_NE(&all.primary(), &old);
    EXPECT_FALSE(support::is_primary(old));
    EXPECT_EQ(get(all.primary()), "a");
    set(all.primary(), "b");
    all.wait_until_in_sync();
    EXPECT_EQ(get(old), "b");
    EXPECT_EQ(get(all.replica(1)), "b");
}

TEST_P(Replicas, ArePromotedAndDemotedByHand) {
    redis_replicas both{GetParam(), {}};
    redis_server &old = both.primary(), &replica = both.replica();
    both.promote(replica);
    EXPECT_EQ(&both.primary(), &replica);
    EXPECT_TRUE(support::is_primary(old));
    set(old, "lost");
    set(replica, "kept");
    both.follow(old, replica);
    EXPECT_EQ(get(old), "kept");
}

TEST_P(Replicas, LoseWhatIsWrittenWhileTheyAreCut) {
    redis_replicas both{GetParam(), {.can_be_cut = true}};
    redis_server &old = both.primary(), &replica = both.replica();
    set(old, "before");
    EXPECT_EQ(confirmed(old), 1);
    both.cut(replica);
    set(old, "after");
    EXPECT_EQ(confirmed(old), 0);
    EXPECT_EQ(support::replicas_online(old), 1) << "the primary must not notice";
    both.promote(replica);
    EXPECT_EQ(get(replica), "before");
    both.heal();
    both.follow(old, replica);
    EXPECT_EQ(get(old), "before");
}

TEST_P(Replicas, CatchUpWhenTheCutIsHealed) {
    redis_replicas both{GetParam(), {.can_be_cut = true}};
    both.cut(both.primary());
    set(both.primary(), "a");
    both.heal();
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica()), "a");
}

TEST_P(Replicas, ThatAreStoppedConfirmNothing) {
    redis_replicas both{GetParam(), {}};
    both.replica().pause();
    set(both.primary(), "a");
    EXPECT_EQ(confirmed(both.primary()), 0);
    both.replica().resume();
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica()), "a");
}

TEST_P(Replicas, AreEmptiedByAnEmptyPrimary) {
    redis_replicas both{GetParam(), {}};
    set(both.primary(), "a");
    EXPECT_EQ(confirmed(both.primary()), 1);
    both.primary().restart();
    EXPECT_TRUE(eventually([&] { return support::replicas_online(both.primary()) == 1; }));
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica()), "");
}

TEST_P(Replicas, FindTheirDataAgainWhereItIsKept) {
    redis_replicas both{GetParam(), {.keep_data = true}};
    set(both.primary(), "a");
    both.primary().restart();
    EXPECT_EQ(get(both.primary()), "a");
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica()), "a");
    both.primary().restart_empty();
    EXPECT_EQ(get(both.primary()), "");
}

TEST_P(Replicas, MayHaveADateOfTheirOwn) {
    redis_replicas both{GetParam(), {.own_clocks = true}};
    both.replica().step_clock(std::chrono::seconds{400});
    both.primary().command({"SET", "k", "a", "PX", "300000"});
    both.wait_until_in_sync();
    both.promote(both.replica());
    EXPECT_TRUE(eventually([&] { return get(both.primary()).empty(); }));
    both.restore();
    both.primary().command({"SET", "k", "a", "PX", "300000"});
    both.wait_until_in_sync();
    both.promote(both.replica());
    EXPECT_EQ(get(both.primary()), "a");
}

TEST_P(Replicas, FollowWithAPasswordAndOverTls) {
    redis_replicas both{GetParam(), {.tls = true, .password = "secret"}};
    set(both.primary(), "a");
    both.wait_until_in_sync();
    EXPECT_EQ(get(both.replica()), "a");
    support::redis_connection without{both.primary().socket_path()};
    EXPECT_THAT(without.command({"GET", "k"}).text, testing::StartsWith("NOAUTH"));
    both.failover();
    EXPECT_EQ(get(both.primary()), "a");
}

TEST_P(Replicas, AreRestored) {
    redis_replicas all{GetParam(), {.replicas = 2, .can_be_cut = true}};
    redis_server& other = all.replica(1);
    set(all.primary(), "a");
    all.cut(all.replica(0));
    all.primary().stop();
    all.promote(all.replica(0));
    set(all.primary(), "b");
    other.pause();
    all.restore();
    EXPECT_EQ(get(all.primary()), "");
    set(all.primary(), "c");
    EXPECT_EQ(confirmed(all.primary(), "2"), 2);
    EXPECT_EQ(get(other), "c");
}

} // namespace
} // namespace holdfast
