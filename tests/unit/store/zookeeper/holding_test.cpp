// SPDX-License-Identifier: Apache-2.0
// What a hold goes through: renewals, deletions by others, the end of its session.
#include "store/zookeeper/formats.hpp"
#include "unit/store/zookeeper/world.hpp"

#include <holdfast/error.hpp>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

class Holding : public world {
protected:
    class doubts final : public doubter {
    public:
        void doubt() noexcept override { ++count; }
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

} // namespace
} // namespace holdfast::zookeeper
