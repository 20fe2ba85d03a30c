// SPDX-License-Identifier: Apache-2.0
// A primary that is one no more, and goes on: it may take whatever it is sent for ten seconds.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <future>
#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;
using ::testing::HasSubstr;

class OldPrimary : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(OldPrimary);

TEST_P(OldPrimary, ThatWasStoppedAndGoesOnIsAskedForNothing) {
    client home{how()};
    mutex held{home, "held"}, free{home, "free"};
    const lease kept = soon(held.async_lock(asio::use_future));
    for (int i = 0; i < 20; ++i) { // now there is a lane, too
        free.lock();
        free.unlock();
    }
    await_replicas();
    redis_server& old = servers().primary();
    old.pause();
    ASSERT_TRUE(told(event_kind::moved));
    old.resume();
    ASSERT_EQ(old.command({"CONFIG", "RESETSTAT"}).text, "OK");
    const auto end = end_of(kept);
    for (int i = 0; i < 50; ++i) {
        free.lock();
        EXPECT_TRUE(is_at_primary("free"));
        EXPECT_EQ(exists(old, "free"), 0);
        free.unlock();
    }
    EXPECT_TRUE(eventually([&] { return end_of(kept) > end + 500ms; })) << "it is renewed";
    EXPECT_EQ(scripts_at(old), 0);
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_NE(&servers().primary(), &old);
    EXPECT_EQ(moved_to(), address_of(servers().primary()));
}

TEST_P(OldPrimary, ThatWasStoppedLeavesNoCallWaitingForIt) {
    redis::options patient = servers().client_options();
    patient.command_timeout = 24h; // else it would end by itself
    client home{how(patient)};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    servers().primary().pause();
    soon(lock.async_lock(asio::use_future)).unlock();
    lock.lock();
    EXPECT_TRUE(is_at_primary("L"));
    lock.unlock();
}

TEST_P(OldPrimary, ThatIsDemotedByHandIsAskedForNothingAndComesBack) {
    client home{how()};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    redis_server& old = servers().primary();
    const std::string other = std::to_string(servers().port_of(servers().server(1)));
    old.command({"REPLICAOF", "127.0.0.1", other});
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable) << why.text;
    EXPECT_THAT(why.text, HasSubstr("replica"));
    old.command({"REPLICAOF", "NO", "ONE"});
    lock.lock();
    EXPECT_EQ(exists(old, "L"), 1);
    lock.unlock();
}

class CutOffPrimary : public with_sentinels {
protected:
    CutOffPrimary()
        : with_sentinels{{.can_be_cut = true}} {}

    void cut_off_primary() {
        old_ = &servers().primary();
        servers().cut({old_}, support::partition::clients::pass);
    }

    redis_server* old_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(CutOffPrimary);

TEST_P(CutOffPrimary, IsLeftForTheOneThatWasElectedAndWhatItAloneHasIsLost) {
    client home{how()};
    mutex known{home, "known"}, alone{home, "alone"};
    const lease kept = soon(known.async_lock(asio::use_future));
    await_replicas();
    cut_off_primary();
    const lease gone = soon(alone.async_lock(asio::use_future));
    ASSERT_TRUE(told(event_kind::moved));
    EXPECT_TRUE(eventually([&] { return gone.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::refused)
        << "the new one says so, and not only the clock";
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_TRUE(alone.try_lock());
    EXPECT_TRUE(is_at_primary("alone"));
    alone.unlock();
}

TEST_P(CutOffPrimary, GrantsNothingWhereAReplicaMustHaveIt) {
    holdfast::options safe = how();
    safe.required_replicas = 1;
    client home{safe};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    cut_off_primary();
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    EXPECT_FALSE(lock.is_held_by_this_thread());
    lock.lock(); // where the other replica is still there
    EXPECT_NE(&servers().primary(), old_);
    EXPECT_TRUE(is_at_primary("L"));
    lock.unlock();
}

} // namespace
} // namespace holdfast
