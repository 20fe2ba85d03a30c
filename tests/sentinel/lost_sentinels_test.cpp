// SPDX-License-Identifier: Apache-2.0
// Sentinels that are lost, or know less than the others.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <future>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LostSentinels : public with_sentinels {
protected:
    void lock_and_unlock(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
    }
};
HOLDFAST_ON_EACH_SERVER(LostSentinels);

TEST_P(LostSentinels, OneOfThemIsNoMatter) {
    for (const std::size_t lost : {0U, 1U}) { // whichever it listens to
        client home{how()};
        lock_and_unlock(home);
        servers().sentinel(lost).stop();
        const std::size_t before = told_->count(event_kind::moved);
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved, before + 1));
        lock_and_unlock(home);
        servers().restore();
    }
}

TEST_P(LostSentinels, TheLastOneThatIsLeftIsEnoughToFindThePrimary) {
    servers().failover();
    redis_server& primary = servers().primary();
    servers().sentinel(0).stop();
    servers().sentinel(1).pause();
    ASSERT_TRUE(eventually([&] { return servers().named_by(servers().sentinel(2)) == &primary; }));
    client home{how()};
    mutex lock{home, "L"};
    lock.lock();
    EXPECT_EQ(exists(primary, "L"), 1);
    lock.unlock();
}

TEST_P(LostSentinels, WithoutAnyOfThemLocksGoOn) {
    holdfast::options brief = how();
    brief.lease_time = 3s;
    client home{brief}, other{how()};
    mutex held{home, "held"}, theirs{other, "held"};
    redis_server& primary = servers().primary();
    lease kept = soon(held.async_lock(asio::use_future));
    EXPECT_FALSE(theirs.try_lock());
    for (const std::size_t each : {0U, 1U, 2U})
        servers().sentinel(each).stop();
    const auto end = end_of(kept);
    EXPECT_TRUE(eventually([&] { return end_of(kept) > end + 500ms; })) << "it is renewed";
    auto waiting = std::async(std::launch::async, [&] { theirs.lock(lease_time{1min}); });
    kept.unlock();
    soon(std::move(waiting));
    EXPECT_EQ(exists(primary, "held"), 1);
    primary.command({"CLIENT", "KILL", "TYPE", "normal"});
    mutex free{home, "free"};
    free.lock(); // the server is where it was
    EXPECT_EQ(exists(primary, "free"), 1);
    free.unlock();
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
}

TEST_P(LostSentinels, WithoutAnyOfThemNobodyKnowsWhereToBegin) {
    for (const std::size_t each : {0U, 1U, 2U})
        servers().sentinel(each).stop();
    client home{how()};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("the primary of 'locks'"),
                                HasSubstr("no Sentinel answers"), HasSubstr("127.0.0.1")));
}

TEST_P(LostSentinels, AServiceThatTheyDoNotKnowIsToldInWords) {
    redis::options where = servers().client_options();
    where.sentinel->service = "orders";
    client home{how(where)};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, AllOf(HasSubstr("the Sentinels know no service 'orders'"),
                                HasSubstr("SENTINEL MASTERS")));
}

TEST_P(LostSentinels, ASentinelWhereAServerShouldBeIsToldWithTheUrlToUse) {
    redis::options where;
    where.port = servers().sentinel(0).port();
    client home{how(where)};
    mutex lock{home, "L"};
    const auto why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, make_error_code(store_errc::wrong_address)) << why.text;
    EXPECT_THAT(why.text,
                HasSubstr("redis+sentinel://127.0.0.1:" + std::to_string(where.port) + "/locks"));
}

class CutOffSentinel : public with_sentinels {
protected:
    CutOffSentinel()
        : with_sentinels{{.can_be_cut = true}} {}
};
HOLDFAST_ON_EACH_SERVER(CutOffSentinel);

TEST_P(CutOffSentinel, LeadsNobodyToTheOldPrimary) {
    client home{how()};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    redis_server& old = servers().primary();
    redis_server& alone = servers().sentinel(1);
    servers().cut({&alone}, support::partition::clients::pass);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    ASSERT_EQ(servers().named_by(alone), &old);
    client other{how()};
    mutex theirs{other, "L"};
    old.command({"CONFIG", "RESETSTAT"});
    for (int i = 0; i < 20; ++i) {
        servers().primary().command({"CLIENT", "KILL", "TYPE", "normal"}); // and they are asked
        for (mutex* const each : {&lock, &theirs}) {
            each->lock();
            EXPECT_TRUE(is_at_primary("L"));
            each->unlock();
        }
    }
    EXPECT_EQ(scripts_at(old), 0);
    EXPECT_EQ(told_->count(event_kind::moved), 1u);
}

} // namespace
} // namespace holdfast
