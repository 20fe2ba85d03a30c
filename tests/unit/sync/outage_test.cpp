// SPDX-License-Identifier: Apache-2.0
// What an acquisition does when the store does not answer, answers late, or says no.
#include "unit/sync/stage.hpp"

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

/// Where another server may have to take over.
class locks_with_failover final : public support::wrapped_locks {
public:
    using wrapped_locks::wrapped_locks;
    limits bounds() const noexcept override {
        limits all = wrapped_locks::bounds();
        all.usual_outage = 30s;
        return all;
    }
};

class Outage : public on_stage {
protected:
    actor& alice = enter({.unavailable_patience = 10s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    void cut() { alice.always = fate{.refused = true}; }
    void mend() { alice.always = fate{}; }
};

TEST_F(Outage, AShorterOneIsSurvived) {
    cut();
    stock.async_lock(held.handler());
    run_for(9s);
    EXPECT_FALSE(held.done());
    mend();
    run_for(1s);
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, ALongerOneFailsUnreachable) {
    cut();
    stock.async_lock(held.handler());
    run_for(10s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1s + 1ms);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Outage, WithoutAPatienceOfTheClientsItIsTheUsualOneOfTheStore) {
    options how;
    how.store = [this](store_context context) {
        const auto cut_off = [](const memory::request&) { return fate{.refused = true}; };
        return std::make_unique<support::wrapped_store<locks_with_failover>>(
            server.connect(cut_off)(std::move(context)));
    };
    client home{io.get_executor(), clock, std::move(how)};
    mutex far{home, "stock"};
    far.async_lock(held.handler());
    run_for(30s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1s + 1ms);
    EXPECT_TRUE(held.failed(errc::unreachable));
}

TEST_F(Outage, EachOutageHasTheWholePatience) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    for (int i = 0; i < 5; ++i) {
        cut();
        run_for(9s);
        EXPECT_FALSE(held.done());
        mend();
        run_for(10s); // longer than a poll: it is answered
    }
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, ItIsTriedAgainSoonAtFirstAndThenOnceASecond) {
    cut();
    stock.async_lock(held.handler());
    run_for(100ms);
    EXPECT_GE(alice.count(verb::look), 3u);
    run_for(2s);
    const std::size_t before = alice.count(verb::look);
    run_for(5s);
    EXPECT_NEAR(double(alice.count(verb::look) - before), 5, 1);
}

TEST_F(Outage, WhoHasNoPatienceIsToldAtOnce) {
    cut();
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "nobody knows whether it is busy";
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Outage, ATimedTryFailsWhenItsPatienceEnds) {
    cut();
    stock.async_try_lock_for(700ms, tried.handler());
    run_for(699ms);
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(tried.failed(errc::unreachable));
}

TEST_F(Outage, AStalledServerDelaysATimedTryByOneTimeLimitAtMost) {
    alice.always = fate{.request_lost = true};
    stock.async_try_lock_for(100ms, tried.handler());
    run_for(100ms + 1s);
    EXPECT_TRUE(tried.failed(errc::outcome_unknown));
}

TEST_F(Outage, ALostAnswerIsFoundByAskingAgain) {
    alice.planned.emplace_back(verb::look, fate{.answer_lost = true});
    stock.async_lock(held.handler());
    run_for(1s - 1ms);
    EXPECT_FALSE(held.done());
    EXPECT_EQ(server.held_count(), 1u);
    run_for(100ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(server.inspect("stock")->owners.at(0), held.value().owner());

    held.take().async_unlock(said{}.handler()); // one release is enough
    settle();
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Outage, AFailureThatAskingAgainCannotCureIsPassedOnAtOnce) {
    for (const store_errc why : {store_errc::wrong_type, store_errc::no_permission,
                                 store_errc::out_of_memory, store_errc::not_authenticated}) {
        alice.meddling.objects = [why](verb) { return make_error_code(why); };
        said<lease> refused;
        stock.async_lock(refused.handler());
        settle();
        EXPECT_TRUE(refused.failed(why));
        EXPECT_TRUE(refused.failed(errc::refused));
    }
    EXPECT_TRUE(is_idle(alice));
    EXPECT_THAT(alice.ear->last(event_kind::waited)->text,
                testing::HasSubstr("the server's own words"));
}

TEST_F(Outage, AnUnstableClockIsNotAskedAgain) {
    alice.meddling.objects = [](verb) { return make_error_code(errc::clock_unstable); };
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::clock_unstable));
}

TEST_F(Outage, AServerThatLoadsItsDataIsWaitedFor) {
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::loading); };
    stock.async_lock(held.handler());
    run_for(5s);
    EXPECT_FALSE(held.done());
    alice.meddling.objects = nullptr;
    run_for(1s);
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, TheNextWaiterHasAPatienceOfItsOwn) {
    cut();
    said<lease> next;
    stock.async_lock(held.handler());
    stock.async_lock(next.handler());
    run_for(11s);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_FALSE(next.done());
    mend();
    run_for(1s);
    EXPECT_TRUE(next.well());
}

TEST_F(Outage, AGrantThatArrivesAfterItsLeaseIsNeverBelieved) {
    alice.always = fate{.answer_delay = 150ms};
    stock.async_lock(lease_time{100ms}, held.handler());
    run_for(1h);
    EXPECT_TRUE(held.failed(errc::lease_lost));
    EXPECT_EQ(alice.count(verb::look), 3u);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Outage, AGrantThatArrivesLateOnceIsAskedForAnew) {
    alice.planned.emplace_back(verb::look, fate{.answer_delay = 150ms});
    stock.async_lock(lease_time{100ms}, held.handler());
    run_for(150ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(held.value().remaining(), 100ms - 3ms);
}

TEST_F(Outage, ALeaseCountsFromTheRequestAndNotFromItsAnswer) {
    alice.always = fate{.request_delay = 200ms, .answer_delay = 300ms};
    stock.async_lock(lease_time{10s}, held.handler());
    run_for(500ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(held.value().remaining(), 10s - 102ms - 500ms);
    EXPECT_LT(held.value().remaining(), server.inspect("stock")->remaining.value());
}

} // namespace
} // namespace holdfast::sync
