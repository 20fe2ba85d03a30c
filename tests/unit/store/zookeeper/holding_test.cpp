// SPDX-License-Identifier: Apache-2.0
// Events during a hold: renewals, deletions by other programs, and the end of the session.
#include "store/zookeeper/nodes.hpp"
#include "support/recorder.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/detached.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

class Holding : public world {
protected:
    class doubts final : public revalidator {
    public:
        void revalidate() noexcept override { ++count; }
        int count = 0;
    };
    class outcomes final : public renewal_sink {
    public:
        explicit outcomes(std::size_t holds)
            : all(holds) {}
        void renewed(std::size_t which, const answer& said) override {
            EXPECT_FALSE(all.at(which).has_value());
            all.at(which) = said.granted;
            term = std::max(term, said.term);
        }
        void failed(std::size_t which, const boost::system::system_error& why) override {
            EXPECT_FALSE(all.at(which).has_value());
            all.at(which) = false;
            failures.push_back(why.code());
        }
        std::vector<std::optional<bool>> all;
        std::vector<error_code> failures;
        duration term{};
    };

    std::vector<ask> take(party& one, int count) {
        std::vector<ask> held;
        for (int i = 0; i < count; ++i) {
            held.push_back(one.wish("lock" + std::to_string(i)));
            EXPECT_TRUE(one.look(*one.line_up(held.back())).granted);
        }
        return held;
    }
    outcomes renew(party& one, const std::vector<ask>& held, duration lease = 30s) {
        std::vector<const hold*> all;
        for (const ask& each : held)
            all.push_back(&each);
        outcomes said{held.size()};
        run(one.store->locks().renew(all, {.lease_time = lease}, said));
        return said;
    }
};

TEST_F(Holding, AreRenewedTogetherInOneWriteForTheRestOfTheSession) {
    party& one = enter();
    const std::vector<ask> held = take(one, 50);
    const std::size_t before = model.so_far().all;
    const outcomes said = renew(one, held);
    EXPECT_THAT(said.all, ::testing::Each(std::optional{true}));
    EXPECT_GT(said.term, 5s);
    EXPECT_LE(said.term, 10s);
    EXPECT_EQ(model.so_far().all - before, 1u);
    EXPECT_THAT(renew(one, held, 0s).all, ::testing::Each(std::optional{true})) << "a question";
}

TEST_F(Holding, OfManyAreRenewedInBatchesOfFiveHundred) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1001);
    const std::size_t before = model.so_far().confirms;
    EXPECT_THAT(renew(one, held).all, ::testing::Each(std::optional{true}));
    EXPECT_EQ(model.so_far().confirms - before, 3u);
}

TEST_F(Holding, ThoseThatAreGoneAreRefusedAndNoOthers) {
    party& one = enter();
    std::vector<ask> held = take(one, 3);
    model.erase("/holdfast/lock1/" + model.children("/holdfast/lock1").front());
    EXPECT_TRUE(one.release(held[2]));
    const outcomes said = renew(one, held);
    EXPECT_EQ(said.all, (std::vector<std::optional<bool>>{true, false, false}));
    EXPECT_TRUE(said.failures.empty());
}

TEST_F(Holding, ThatCannotBeAskedAboutAreReportedEachWithTheError) {
    party& one = enter();
    const std::vector<ask> held = take(one, 3);
    one.plan("confirm", {.answer_lost = true});
    const outcomes said = renew(one, held);
    EXPECT_THAT(said.failures, ::testing::SizeIs(3));
    EXPECT_THAT(said.failures, ::testing::Each(error_code{make_error_code(errc::outcome_unknown)}));
    EXPECT_THAT(renew(one, held).all, ::testing::Each(std::optional{true})) << "it goes on";
}

TEST_F(Holding, AreAllRefusedWhenTheSessionHasEnded) {
    party& one = enter();
    const std::vector<ask> held = take(one, 3);
    model.end_session(one.at->state().id);
    settle();
    EXPECT_EQ(one.doubts, 1);
    const std::size_t before = model.so_far().all;
    EXPECT_THAT(renew(one, held).all, ::testing::Each(std::optional{false}));
    EXPECT_EQ(model.so_far().all, before) << "nothing need be asked";
    EXPECT_FALSE(one.release(held[0]));
    run(one.at->sync("/")); // another session
    EXPECT_THAT(renew(one, held).all, ::testing::Each(std::optional{false}));
}

TEST_F(Holding, ASessionThatEndsDuringARenewalRenewsNothing) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1);
    one.plan("confirm", {.unsent = true});
    const outcomes said = renew(one, held);
    EXPECT_THAT(said.failures, ::testing::SizeIs(1));
    model.end_session(one.at->state().id);
    const outcomes late = renew(one, held); // the news and the request pass each other
    EXPECT_EQ(late.all, std::vector<std::optional<bool>>{false});
}

TEST_F(Holding, IsDoubtedAtOnceWhenSomebodyDeletesItsNode) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1);
    doubts heard;
    const auto watching = one.store->locks().watch_over(held[0], heard);
    clock.run_for(1s);
    EXPECT_EQ(model.watches(), 1u);
    model.erase("/holdfast/lock0/" + model.children("/holdfast/lock0").front());
    settle();
    EXPECT_EQ(heard.count, 1);
}

TEST_F(Holding, IsNotWatchedWhileItIsYoung) {
    party& one = enter();
    const std::size_t before = model.so_far().watches;
    for (int i = 0; i < 20; ++i) {
        const std::vector<ask> held = take(one, 1);
        doubts heard;
        const auto watching = one.store->locks().watch_over(held[0], heard);
        clock.run_for(20ms);
        EXPECT_TRUE(one.release(held[0]));
    }
    clock.run_for(10s);
    EXPECT_EQ(model.so_far().watches, before);
    EXPECT_EQ(clock.sleepers(), 0u) << "and nobody waits for it";
}

TEST_F(Holding, IsDoubtedIfItWasDeletedBeforeItWasWatched) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1);
    doubts heard;
    const auto watching = one.store->locks().watch_over(held[0], heard);
    model.erase("/holdfast/lock0/" + model.children("/holdfast/lock0").front());
    clock.run_for(1s);
    EXPECT_EQ(heard.count, 1);
}

TEST_F(Holding, IsWatchedAgainAfterAReconnection) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1);
    doubts heard;
    const auto watching = one.store->locks().watch_over(held[0], heard);
    clock.run_for(1s);
    model.cut(one.at->state().id);
    settle();
    run(one.at->sync("/"));
    clock.run_for(1s);
    EXPECT_EQ(one.doubts, 1) << "all holds are doubted";
    EXPECT_GE(heard.count, 1);
    const int before = heard.count;
    model.erase("/holdfast/lock0/" + model.children("/holdfast/lock0").front());
    settle();
    EXPECT_EQ(heard.count, before + 1);
}

TEST_F(Holding, AWatchThatCouldNotBeSetIsSetAfterAReconnection) {
    party& one = enter();
    const std::vector<ask> held = take(one, 1);
    doubts heard;
    const auto watching = one.store->locks().watch_over(held[0], heard);
    one.plan("watch_node", {.lost = true});
    clock.run_for(1s);
    EXPECT_EQ(model.watches(), 0u);
    run(one.at->sync("/"));
    clock.run_for(1s);
    EXPECT_EQ(model.watches(), 1u);
}

// Nodes that shall go, and of which nobody knows whether they have.

using support::code_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Orphans : public world {
protected:
    /// Something else is asked, which reconnects.
    void reconnect(party& one) {
        run(one.at->sync("/"));
        settle();
    }
    std::vector<std::string> nodes() { return model.children("/holdfast/lock"); }
};

TEST_F(Orphans, AReleaseThatWasNotSentIsDoneAfterTheReconnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    EXPECT_THAT(nodes(), SizeIs(1));
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_TRUE(one.release(want)) << "it was ours until we deleted it";
    EXPECT_FALSE(one.release(want));
}

TEST_F(Orphans, APlaceThatIsDroppedWithoutLeavingLeavesNoNode) {
    party& one = enter();
    party& two = enter();
    EXPECT_TRUE(one.look(*one.line_up(one.wish("lock"))).granted);
    {
        const auto spot = two.line_up(two.wish("lock"));
        EXPECT_FALSE(two.look(*spot).granted);
    }
    settle();
    EXPECT_THAT(nodes(), SizeIs(1));
}

TEST_F(Orphans, AnUnseenNodeOfADroppedPlaceIsFoundAndDeleted) {
    party& one = enter();
    model.make("/holdfast/lock", node_mode::container, 0);
    {
        const auto spot = one.line_up(one.wish("lock"));
        one.plan("create_and_list", {.answer_lost = true});
        EXPECT_EQ(code_of([&] { one.look(*spot); }), errc::outcome_unknown);
    }
    settle();
    EXPECT_THAT(nodes(), SizeIs(1)) << "there is no connection";
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_F(Orphans, WhatFailsIsTriedAfterTheNextReconnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    for (int i = 0; i < 3; ++i)
        one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    for (int i = 0; i < 2; ++i) {
        reconnect(one);
        EXPECT_THAT(nodes(), SizeIs(1));
    }
    reconnect(one);
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_F(Orphans, WhatIsRefusedIsTriedAgainOverTheSameConnection) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    for (int i = 0; i < 4; ++i)
        one.plan("remove", {.refused = store_errc::try_again});
    EXPECT_EQ(code_of([&] { one.release(want); }), store_errc::try_again);
    settle();
    EXPECT_THAT(nodes(), SizeIs(1));
    clock.run_for(10s);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_EQ(clock.sleepers(), 0u) << "nothing is left to wait for";
}

TEST_F(Orphans, ANewOneDoesNotWaitForWhatWasRefused) {
    party& one = enter();
    const ask first = one.wish("lock"), second = one.wish("another");
    EXPECT_TRUE(one.look(*one.line_up(first)).granted);
    EXPECT_TRUE(one.look(*one.line_up(second)).granted);
    for (int i = 0; i < 8; ++i)
        one.plan("remove", {.refused = store_errc::no_permission});
    EXPECT_EQ(code_of([&] { one.release(first); }), store_errc::no_permission);
    clock.run_for(1s);
    EXPECT_EQ(code_of([&] { one.release(second); }), store_errc::no_permission);
    clock.run_for(1min);
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_THAT(model.children("/holdfast/another"), IsEmpty());
}

TEST_F(Orphans, TheyEndWithTheirSession) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted);
    one.plan("remove", {.lost = true});
    EXPECT_EQ(code_of([&] { one.release(want); }), errc::outcome_unknown);
    model.end_session(one.at->state().id);
    settle();
    const std::size_t before = model.so_far().removes;
    reconnect(one);
    EXPECT_EQ(model.so_far().removes, before);
    EXPECT_FALSE(one.release(want)) << "nobody can tell whether it was lost before";
}

TEST_F(Orphans, WhatIsHeldIsNoOrphan) {
    party& one = enter();
    const ask want = one.wish("lock");
    EXPECT_TRUE(one.look(*one.line_up(want)).granted); // its place is gone now
    model.cut(one.at->state().id);
    settle();
    reconnect(one);
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(one.release(want));
}

// Costs of a long queue, with complete clients that each have a loop that waits.

class Herd : public world {
protected:
    asio::awaitable<void> take_turn(party& who, int& served, int& inside, bool& well) {
        const ask want = who.wish("lock");
        const std::unique_ptr<alarm> wake = clock.make_alarm();
        const auto spot = who.store->locks().line_up(want, *wake);
        for (;;) {
            const answer said = co_await spot->look();
            if (said.granted)
                break;
            co_await wake->wait_until(clock.now() + said.term);
        }
        well = well && ++inside == 1;
        const std::unique_ptr<alarm> work = clock.make_alarm();
        co_await work->wait_until(clock.now() + 2ms);
        --inside;
        well = well && (co_await who.store->locks().release(want)).was_ours;
        ++served;
    }
};

TEST_F(Herd, AQueueOfFiveHundredHasNoHerd) {
    constexpr int waiters = 500;
    int served = 0, inside = 0;
    bool well = true;
    model.make("/holdfast/lock", node_mode::container, 0);
    for (int i = 0; i < waiters; ++i)
        asio::co_spawn(io, take_turn(enter(), served, inside, well), asio::detached);
    clock.run_for(10s);
    EXPECT_EQ(served, waiters);
    EXPECT_TRUE(well);
    const zookeeper_model::figures all = model.so_far();
    EXPECT_LE(static_cast<double>(all.lists) / waiters, 2.3);
    EXPECT_LE(static_cast<double>(all.watches) / waiters, 1.2);
    EXPECT_GE(all.watches, std::size_t{waiters - 1});
}

} // namespace
} // namespace holdfast::zookeeper
