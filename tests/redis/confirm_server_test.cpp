// SPDX-License-Identifier: Apache-2.0
// Locks and counters that count only when replicas have confirmed them, on a primary with two.
#include "support/acl_file.hpp"
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_replicas.hpp"
#include "support/server_info.hpp"
#include "support/thrown.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <future>
#include <memory>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
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
        made.unavailable_patience = 300ms;
        made.observer = told_;
        return made;
    }

    /// As a user who has all rights but these.
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
        return Field(&support::told::text, HasSubstr("1 of 2 replicas confirmed it in time"));
    }
    void expect_unconfirmed(const thrown& why) {
        EXPECT_EQ(why.code, make_error_code(store_errc::not_replicated)) << why.text;
        EXPECT_THAT(why.text, HasSubstr("1 of 2 replicas confirmed it in time"));
    }

    const std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(RequiredReplicas);

TEST_P(RequiredReplicas, HaveALockBeforeItIsGranted) {
    client home{how()};
    mutex lock{home, "L"};
    for (int i = 0; i < 20; ++i) { // over the shared connection, and over a lane
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

TEST_P(RequiredReplicas, ThatAreMissingAreWaitedForWithPatience) {
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
    patient.unavailable_patience = support::far_too_long;
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
    brief.lease_time = 2s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::term_ended);
    EXPECT_GE(told_->count(event_kind::in_danger), 1u);
    EXPECT_THAT(told_->of(event_kind::renewal_failed), Contains(told_of_replicas()));
    EXPECT_TRUE(eventually([&] { return is_free("L"); })) << "the renewals had made it longer";
}

// Their time is over before the answer is given up: else nobody would say what was missing.
TEST_P(RequiredReplicas, ThatDoNotConfirmARenewalAreNamedWhateverTimeTheyHave) {
    holdfast::options brief = how(2, {.replica_timeout = 1s});
    brief.lease_time = 2s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_THAT(told_->of(event_kind::renewal_failed), Contains(told_of_replicas()));
}

TEST_P(RequiredReplicas, ThatConfirmALaterRenewalKeepTheHold) {
    holdfast::options brief = how();
    brief.lease_time = 3s;
    client home{brief};
    mutex lock{home, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().replica(0).pause();
    ASSERT_TRUE(told(event_kind::renewal_failed));
    servers().replica(0).resume();
    EXPECT_TRUE(eventually([&] { return held.remaining() > 2500ms; }));
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
    patient.unavailable_patience = support::far_too_long;
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
    EXPECT_EQ(why.code, make_error_code(store_errc::no_permission)) << "no patience helps";
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
    patient.unavailable_patience = support::far_too_long;
    client home{patient};
    mutex lock{home, "L"};
    servers().replica(0).pause();
    auto taken = std::async(std::launch::async, [&] { return thrown_by([&] { lock.lock(); }); });
    ASSERT_TRUE(eventually([&] { return some_wait_for_replicas(); }));
    home.close();
    EXPECT_EQ(soon(std::move(taken)).code, errc::closed);
}

} // namespace
} // namespace holdfast
