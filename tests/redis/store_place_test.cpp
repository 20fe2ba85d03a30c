// SPDX-License-Identifier: Apache-2.0
// What a place of the Redis store sends, when, and what it knows afterwards.
#include "store_fixture.hpp"

namespace holdfast {
namespace {

using ::testing::ElementsAre;

class RedisPlace : public on_scripted_node {
protected:
    void line_up(duration patience = duration::max()) {
        place_ = store_.line_up(want(patience), *wake_);
    }
    answer look() { return complete(place_->look()); }
    void busy(std::int64_t left, duration takes = {}) {
        node_.will_answer({0, left, server_time}, takes);
    }
    void granted() { node_.will_answer({1, 30'000, server_time}); }
    void late() { node_.will_answer({2, 0, server_time}); }

    std::unique_ptr<place> place_;
};

TEST_F(RedisPlace, AFreeLockCostsOneRequest) {
    line_up();
    granted();
    const answer said = look();
    EXPECT_TRUE(said.granted);
    EXPECT_EQ(said.term, duration{30'000});
    ASSERT_EQ(node_.asked.size(), 1u);
    EXPECT_EQ(node_.asked[0].script, "lock_mutex");
    EXPECT_THAT(node_.asked[0].keys, ElementsAre("L"));
    EXPECT_THAT(node_.asked[0].words, ElementsAre("30000", to_string(alice_)));
    EXPECT_FALSE(place_->uncertain());
}

TEST_F(RedisPlace, AfterTheFirstBusyItListensAndAsksAgainBeforeAnybodySleeps) {
    line_up();
    busy(20'000);
    EXPECT_EQ(look().term, duration::zero());
    EXPECT_TRUE(node_.listeners.empty());

    busy(20'000);
    const time_point before = clock_.now();
    EXPECT_EQ(look().term, context_.poll_bound);
    EXPECT_EQ(node_.listeners.count("redisson_lock__channel:{L}"), 1u);
    EXPECT_EQ(node_.asked[1].at, before + *node_.confirms_after);
}

TEST_F(RedisPlace, WhoIsNotToldListensToNobodyAndPollsWhenItLikes) {
    ask made = want(duration::max());
    made.kind = lock_kind::spin;
    place_ = store_.line_up(std::move(made), *wake_);
    for (int i = 0; i < 2; ++i) {
        busy(20'000);
        EXPECT_EQ(look().term, duration{20'002}) << "beyond the poll bound";
        busy(-1);
        EXPECT_EQ(look().term, duration::max());
    }
    EXPECT_TRUE(node_.listeners.empty());
}

TEST_F(RedisPlace, LaterLooksAreOneRequestEach) {
    line_up();
    for (int i = 0; i < 4; ++i) {
        busy(20'000);
        look();
    }
    EXPECT_EQ(node_.asked.size(), 4u);
    EXPECT_EQ(node_.listeners.size(), 1u);
}

TEST_F(RedisPlace, NobodySleepsPastTheHoldersEndNorAsksJustBeforeIt) {
    line_up();
    busy(700);
    look();
    busy(700);
    EXPECT_EQ(look().term, duration{702});
    busy(0);
    EXPECT_EQ(look().term, duration{2});
}

TEST_F(RedisPlace, AHoldWithoutAnEndIsAskedForAtThePollBound) {
    line_up();
    busy(-1);
    look();
    busy(-1);
    EXPECT_EQ(look().term, context_.poll_bound);
}

TEST_F(RedisPlace, PollsAreJitteredDownwardsByAtMostAFifth) {
    line_up();
    busy(-1);
    look();
    for (std::uint64_t random = 0; random < 100'000; random += 777) {
        context_.random = [random] { return random; };
        busy(-1);
        const duration term = look().term;
        EXPECT_LE(term, context_.poll_bound);
        EXPECT_GE(term, context_.poll_bound * 4 / 5);
    }
}

TEST_F(RedisPlace, WhoCannotListenAsksMoreOften) {
    node_.confirms_after.reset();
    line_up();
    busy(20'000);
    look();
    busy(20'000);
    const time_point before = clock_.now();
    EXPECT_EQ(look().term, duration{1'000});
    EXPECT_EQ(clock_.now() - before, duration{1'000}); // waited for it once …
    busy(20'000);
    look();
    EXPECT_EQ(clock_.now() - before, duration{1'000}); // … and no longer

    node_.confirms_after = duration{0}; // the ear is back
    busy(20'000);
    EXPECT_EQ(look().term, context_.poll_bound);
}

TEST_F(RedisPlace, ListeningIsNotWaitedForLongerThanTheCaller) {
    node_.confirms_after.reset();
    line_up(duration{300});
    busy(20'000);
    look();
    const time_point before = clock_.now();
    EXPECT_FALSE(look().granted);
    EXPECT_EQ(clock_.now() - before, duration{300});
    EXPECT_EQ(node_.asked.size(), 1u); // its time was over: nothing more was sent
}

TEST_F(RedisPlace, LeavingStopsListeningAndSendsNothingIfNothingCanBeHeld) {
    line_up();
    complete(place_->leave());
    busy(20'000);
    look();
    busy(20'000);
    look();
    complete(place_->leave());
    EXPECT_TRUE(node_.listeners.empty());
    EXPECT_EQ(node_.asked.size(), 2u);
}

TEST_F(RedisPlace, LeavingReleasesWhatWasGranted) {
    line_up();
    granted();
    look();
    node_.will_answer({1, 0});
    complete(place_->leave());
    ASSERT_EQ(node_.asked.size(), 2u);
    EXPECT_EQ(node_.asked[1].script, "release_mutex");
    EXPECT_THAT(node_.asked[1].words,
                ElementsAre(to_string(alice_), "redisson_lock__channel:{L}", "PUBLISH"));
    complete(place_->leave());
    EXPECT_EQ(node_.asked.size(), 2u);
}

} // namespace
} // namespace holdfast
