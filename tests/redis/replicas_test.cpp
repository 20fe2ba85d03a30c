// SPDX-License-Identifier: Apache-2.0
// Checks that the test replicas have the properties that other tests rely on.
#include "support/diagnosed.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_replicas.hpp"
#include "support/redis_server.hpp"
#include "support/source_tree.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <memory>

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

// Locks and counters that count only when replicas have confirmed them, on a primary with two.

using namespace std::chrono_literals;
using support::soon;
using support::thrown;
using support::thrown_by;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

class RequiredReplicas : public support::on_each_topology<support::redis_replicas> {
protected:
    RequiredReplicas()
        : on_each_topology{{.replicas = 2}} {}

    holdfast::options how(unsigned replicas = 2,
                          redis::options where = {.replica_timeout = 100ms}) {
        where.unix_socket = servers().primary().socket_path();
        holdfast::options made;
        made.store = redis::make_store(where);
        made.required_replicas = replicas;
        made.unavailable_timeout = 3s;
        made.observer = told_;
        return made;
    }

    /// Creates a user who has all rights except these, and logs in as this user.
    holdfast::options without(const std::vector<std::string>& rights) {
        std::vector<std::string> rest = support::rules_of_acl_file("app:");
        rest.emplace_back("+wait");
        for (const std::string& each : rights)
            std::erase(rest, each);
        EXPECT_EQ(ask(support::acl_setuser("app", "its", rest)).text, "OK");
        return how(1, {.user = "app", .password = "its", .replica_timeout = 100ms});
    }

    redis::reply ask(const std::vector<std::string>& words) {
        return servers().primary().command(words);
    }
    bool is_free(const std::string& name) { return ask({"EXISTS", name}).integer == 0; }
    bool replicas_have(const std::string& name) {
        const std::vector<std::string> words{"EXISTS", name};
        return servers().replica(0).command(words).integer == 1 &&
               servers().replica(1).command(words).integer == 1;
    }
    bool some_wait_for_replicas() {
        return support::info_of(servers().primary(), "clients", "blocked_clients") != "0";
    }
    bool told(event_kind kind) {
        return eventually([&] { return told_->count(kind) > 0; });
    }
    static auto told_of_replicas() {
        return Field(&support::told::text,
                     HasSubstr("1 of 2 replicas confirmed the write in time"));
    }
    void expect_unconfirmed(const thrown& why) {
        EXPECT_EQ(why.code, make_error_code(store_errc::not_replicated)) << why.text;
        EXPECT_THAT(why.text, HasSubstr("1 of 2 replicas confirmed the write in time"));
    }

    const std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(RequiredReplicas);

TEST_P(RequiredReplicas, HaveALockBeforeItIsGranted) {
    client home{how()};
    mutex lock{home, "L"};
    for (int i = 0; i < 20; ++i) { // over the shared connection, and over a blocking connection
        lock.lock();
        EXPECT_TRUE(replicas_have("L"));
        lock.unlock();
    }
    const lease held = soon(lock.async_lock(asio::use_future));
    EXPECT_TRUE(replicas_have("L"));
}

TEST_P(RequiredReplicas, ThatAreMissingAreToldAtOnceByWhoDoesNotWait) {
    client home{how()};
    mutex lock{home, "L"};
    servers().replica(1).pause();
    expect_unconfirmed(thrown_by([&] { (void)lock.try_lock(); }));
    EXPECT_FALSE(lock.is_held_by_this_thread());
    EXPECT_TRUE(eventually([&] { return is_free("L"); }));
}

TEST_P(RequiredReplicas, ThatAreMissingAreWaitedForWithTimeout) {
    client home{how()};
    mutex lock{home, "L"};
    servers().replica(1).pause();
    expect_unconfirmed(thrown_by([&] { lock.lock(); }));
    EXPECT_TRUE(eventually([&] { return is_free("L"); }));
    expect_unconfirmed(thrown_by([&] { (void)lock.try_lock_for(150ms); }));
    EXPECT_TRUE(eventually([&] { return is_free("L"); }));
    const auto coming = [&] { (void)soon(lock.async_lock(asio::use_future)); };
    EXPECT_EQ(thrown_by(coming).code, make_error_code(store_errc::not_replicated));
    EXPECT_TRUE(eventually([&] { return is_free("L"); }));
}

TEST_P(RequiredReplicas, ThatComeBackInTimeGrantIt) {
    holdfast::options patient = how();
    patient.unavailable_timeout = support::far_too_long;
    client home{patient};
    mutex lock{home, "L"};
    servers().replica(1).pause();
    auto taken = std::async(std::launch::async, [&] { lock.lock(lease_time{1min}); });
    ASSERT_TRUE(eventually([&] { return !is_free("L"); }));
    EXPECT_FALSE(support::is_ready(taken));
    servers().replica(1).resume();
    soon(std::move(taken));
    EXPECT_TRUE(replicas_have("L"));
}

TEST_P(RequiredReplicas, ThatDoNotConfirmARenewalEndTheHoldWithItsTerm) {
    holdfast::options brief = how();
    brief.lease_time = 6s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    // The lost token compares the validity with the clock. The observer is notified a moment later.
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::lost) > 0; }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::term_ended);
    EXPECT_GE(told_->count(event_kind::in_danger), 1u);
    EXPECT_THAT(told_->of(event_kind::renewal_failed), Contains(told_of_replicas()));
    EXPECT_TRUE(eventually([&] { return is_free("L"); })) << "the renewals had made it longer";
}

// Their time is over before the answer is given up: else nobody would say what was missing.
TEST_P(RequiredReplicas, ThatDoNotConfirmARenewalAreNamedWhateverTimeTheyHave) {
    holdfast::options brief = how(2, {.command_timeout = 9s, .replica_timeout = 3s});
    brief.lease_time = 6s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_THAT(told_->of(event_kind::renewal_failed), Contains(told_of_replicas()));
}

TEST_P(RequiredReplicas, ThatConfirmALaterRenewalKeepTheHold) {
    holdfast::options brief = how();
    brief.lease_time = 15s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    ASSERT_TRUE(told(event_kind::renewal_failed));
    servers().replica(0).resume();
    EXPECT_TRUE(eventually([&] { return held.remaining() > 12500ms; }));
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(RequiredReplicas, AreAskedByWhoEntersAgainAndWantsMoreOfThem) {
    client home{how(0)};
    recursive_mutex mine{home, "L"}, safer{home, "L", {.required_replicas = 2}};
    mine.lock();
    servers().replica(1).pause();
    expect_unconfirmed(thrown_by([&] { safer.lock(); }));
    EXPECT_TRUE(mine.is_held_by_this_thread());
    servers().replica(1).resume();
    safer.lock();
    EXPECT_TRUE(replicas_have("L"));
    safer.unlock();
    mine.unlock();
    EXPECT_TRUE(is_free("L"));
}

TEST_P(RequiredReplicas, ConfirmNothingThatAServerAnswersWhichWasDemotedMeanwhile) {
    holdfast::options patient = how();
    patient.unavailable_timeout = support::far_too_long;
    redis::options slow;
    slow.unix_socket = servers().primary().socket_path();
    patient.store = redis::make_store(slow); // waits for the replicas for a second
    client home{patient};
    mutex lock{home, "L"};
    servers().replica(0).pause();
    auto taken = std::async(std::launch::async, [&] { lock.lock(lease_time{1min}); });
    ASSERT_TRUE(eventually([&] { return some_wait_for_replicas(); }));
    ask({"REPLICAOF", "127.0.0.1", "1"});
    ASSERT_TRUE(eventually([&] { return !some_wait_for_replicas(); }));
    servers().replica(0).resume();
    EXPECT_FALSE(support::is_ready(taken));
    ask({"REPLICAOF", "NO", "ONE"});
    soon(std::move(taken));
    EXPECT_TRUE(replicas_have("L"));
}

TEST_P(RequiredReplicas, ThatMayNotBeAskedGrantNothingAndNothingIsLeft) {
    client home{without({"+wait"})};
    mutex lock{home, "app:L"};
    thrown why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::no_permission)) << why.text;
    EXPECT_THAT(why.text, AllOf(HasSubstr("NOPERM"), HasSubstr("granted: +wait")));
    EXPECT_TRUE(is_free("app:L")) << "by then, and not only later";
    why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::no_permission)) << "no timeout helps";
    EXPECT_TRUE(is_free("app:L"));
    why = thrown_by([&] { (void)soon(lock.async_lock(asio::use_future)); });
    EXPECT_EQ(why.code, make_error_code(store_errc::no_permission));
    EXPECT_TRUE(is_free("app:L"));
}

TEST_P(RequiredReplicas, ThatMayNotBeAskedLeaveItOpenWhereItCannotBeReleased) {
    holdfast::options brief = without({"+wait", "+hdel"});
    brief.lease_time = 500ms;
    client home{brief};
    mutex lock{home, "app:L"};
    const thrown why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    EXPECT_THAT(why.text, HasSubstr("granted: +wait"));
    EXPECT_TRUE(eventually([&] { return is_free("app:L"); })) << "with its lease";
}

TEST_P(RequiredReplicas, WithTheRightToAskThemAllIsWell) {
    client home{without({})};
    mutex lock{home, "app:L"};
    lock.lock();
    EXPECT_TRUE(replicas_have("app:L"));
    lock.unlock();
}

TEST_P(RequiredReplicas, HaveWhatIsCountedBeforeItIsTold) {
    client home{how()};
    counting_semaphore seats{home, "S"};
    ASSERT_TRUE(seats.try_set_permits(2));
    seats.acquire();
    EXPECT_EQ(servers().replica(1).command({"GET", "S"}).text, "1");
    seats.release();
    EXPECT_EQ(servers().replica(1).command({"GET", "S"}).text, "2");
}

TEST_P(RequiredReplicas, ThatAreMissingLeaveWhatWasTakenWithNobody) {
    client sure{how(0)}, home{how()};
    ASSERT_TRUE((counting_semaphore{sure, "S"}.try_set_permits(3)));
    ASSERT_TRUE((leased_semaphore{sure, "P"}.try_set_permits(3)));
    rate_limiter{sure, "R"}.set_rate({.permits = 3, .per = 1h});
    servers().replica(1).pause();
    counting_semaphore seats{home, "S"};
    expect_unconfirmed(thrown_by([&] { (void)seats.try_acquire(2); }));
    EXPECT_TRUE(eventually([&] { return ask({"GET", "S"}).text == "3"; }));
    leased_semaphore permits{home, "P"};
    expect_unconfirmed(thrown_by([&] { (void)permits.try_acquire(); }));
    EXPECT_TRUE(eventually([&] { return ask({"GET", "P"}).text == "3"; }));
    rate_limiter mails{home, "R"};
    expect_unconfirmed(thrown_by([&] { (void)mails.try_acquire(2); }));
    EXPECT_TRUE(eventually([&] { return rate_limiter(sure, "R").available_permits() == 3; }));
}

TEST_P(RequiredReplicas, ThatAreMissingDoNotMakeAChangeCountTwice) {
    client sure{how(0)}, home{how()};
    ASSERT_TRUE((counting_semaphore{sure, "S"}.try_set_permits(3)));
    ASSERT_TRUE((latch{sure, "D"}.try_set_count(3)));
    servers().replica(1).pause();
    counting_semaphore seats{home, "S"};
    expect_unconfirmed(thrown_by([&] { seats.release(); }));
    EXPECT_EQ(ask({"GET", "S"}).text, "4") << "asked again and again";
    latch done{home, "D"};
    expect_unconfirmed(thrown_by([&] { done.count_down(); }));
    EXPECT_EQ(ask({"GET", "D"}).text, "2");
    servers().replica(1).resume();
    done.count_down(2);
    EXPECT_TRUE(done.try_wait());
}

TEST_P(RequiredReplicas, ThatMayNotBeAskedGiveNothingOut) {
    client sure{how(0)};
    ASSERT_TRUE((counting_semaphore{sure, "app:S"}.try_set_permits(3)));
    ASSERT_TRUE((leased_semaphore{sure, "app:P"}.try_set_permits(3)));
    rate_limiter limit{sure, "app:R"};
    limit.set_rate({.permits = 3, .per = 1h});
    client home{without({"+wait"})};
    counting_semaphore seats{home, "app:S"};
    leased_semaphore permits{home, "app:P"};
    rate_limiter mails{home, "app:R"};
    EXPECT_EQ(thrown_by([&] { seats.acquire(); }).code, errc::refused);
    EXPECT_EQ(thrown_by([&] { (void)permits.acquire(); }).code, errc::refused);
    EXPECT_EQ(thrown_by([&] { mails.acquire(); }).code, errc::refused);
    EXPECT_EQ(ask({"GET", "app:S"}).text, "3");
    EXPECT_EQ(ask({"GET", "app:P"}).text, "3");
    EXPECT_EQ(limit.available_permits(), 3);
    const thrown why = thrown_by([&] { seats.release(); });
    EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    EXPECT_THAT(why.text, HasSubstr("granted: +wait"));
    EXPECT_EQ(ask({"GET", "app:S"}).text, "4") << "once";
}

TEST_P(RequiredReplicas, AreNotWaitedForWhenTheClientIsClosed) {
    holdfast::options patient = how();
    redis::options slow;
    slow.unix_socket = servers().primary().socket_path();
    patient.store = redis::make_store(slow);
    patient.unavailable_timeout = support::far_too_long;
    client home{patient};
    mutex lock{home, "L"};
    servers().replica(0).pause();
    auto taken = std::async(std::launch::async, [&] { return thrown_by([&] { lock.lock(); }); });
    ASSERT_TRUE(eventually([&] { return some_wait_for_replicas(); }));
    home.close();
    EXPECT_EQ(soon(std::move(taken)).code, errc::closed);
}

// Findings of the doctor about a server that has replicas but no Sentinels.

using support::diagnosed;
using support::said_of;
using ::testing::IsEmpty;
using ::testing::Not;

class DoctorAtReplicas : public support::on_each_kind_of_server {
protected:
    static diagnosis examined(redis_replicas& all, unsigned replicas = 0) {
        redis::options where;
        where.port = all.port_of(all.primary());
        return diagnosed(where, replicas);
    }
};
HOLDFAST_ON_EACH_SERVER(DoctorAtReplicas);

TEST_P(DoctorAtReplicas, SaysWhatIsThere) {
    redis_replicas all{GetParam(), {.arguments = {"--appendonly", "yes"}}};
    const diagnosis found = examined(all);
    EXPECT_THAT(said_of("topology", found),
                HasSubstr("fine: This server is the primary 127.0.0.1:" +
                          std::to_string(all.port_of(all.primary())) + " (replicas: 127.0.0.1:" +
                          std::to_string(all.port_of(all.replica())) + ")"));
    EXPECT_THAT(said_of("failover", found), IsEmpty());
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: "));
    EXPECT_THAT(said_of("persistence", found),
                HasSubstr("note: The setting appendfsync is everysec. If the machine loses its "
                          "power, the latest locks may be lost. This finding is about both "
                          "servers."));
    EXPECT_THAT(said_of("listening", found),
                HasSubstr("fine: This client can subscribe to notifications"));
}

TEST_P(DoctorAtReplicas, FindsAReplicaWhoseClockIsAhead) {
    redis_replicas all{GetParam(), {.own_clocks = true}};
    EXPECT_THAT(said_of("clocks", examined(all)), HasSubstr("fine: "));
    all.replica().step_clock(20s);
    EXPECT_THAT(said_of("clocks", examined(all)),
                AllOf(HasSubstr("warning: The clock of the replica "), HasSubstr(" ahead of "),
                      Not(HasSubstr("fine"))));
}

TEST_P(DoctorAtReplicas, SaysWhichReplicaCannotBeAsked) {
    redis_replicas all{GetParam(), {}};
    all.replica().pause();
    EXPECT_THAT(said_of("topology", examined(all)),
                HasSubstr("warning: The replica 127.0.0.1:" +
                          std::to_string(all.port_of(all.replica())) + " could not be asked: "));
    all.replica().resume();
}

TEST_P(DoctorAtReplicas, FindsThatWaitIsDenied) {
    redis_replicas all{GetParam(), {}};
    all.primary().command({"ACL", "SETUSER", "default", "-wait"});
    EXPECT_THAT(said_of("replicas", examined(all)),
                HasSubstr("required_replicas cannot be used here"));
    EXPECT_THAT(said_of("replicas", examined(all, 1)), HasSubstr("danger: WAIT is refused"));
}

} // namespace
} // namespace holdfast
