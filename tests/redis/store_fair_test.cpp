// SPDX-License-Identifier: Apache-2.0
// How the store waits for a fair lock: with a place, and an ear of its own.
#include "store_fixture.hpp"
#include "support/recorder.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoreFair : public on_scripted_node {
protected:
    StoreFair() {
        context_.tell = [this](const event& what) { told_.notify(what); };
    }

    ask wanted(bool waits = true) const {
        ask made{lock_name{"L"}, alice_, lock_kind::fair};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        made.outlasts = 21s;
        made.waits = waits;
        return made;
    }
    /// What it is asked for: script, and how long the place shall last.
    std::string last_patience() const { return node_.asked.back().words.at(5); }
    enum { there = 0, joined = 1, stays = 2 };
    void look(place& spot, std::int64_t said, std::int64_t left, int place_said = there) {
        node_.will_answer({said, left, server_time, place_said});
        EXPECT_EQ(complete(spot.look()).granted, said == 1);
    }

    support::recorder told_;
};

TEST_F(StoreFair, TheRequestHasTheKeysOfRedisson) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 1, 0);
    EXPECT_EQ(node_.asked.at(0).script, "lock_fair");
    EXPECT_THAT(node_.asked.at(0).keys,
                ElementsAre("L", "redisson_lock_queue:{L}", "redisson_lock_timeout:{L}"));
    EXPECT_THAT(node_.asked.at(0).words,
                ElementsAre("30000", to_string(alice_), "redisson_lock__channel:{L}", "PUBLISH",
                            "1", "21000", "300000"));
    EXPECT_TRUE(spot->must_leave()) << "it holds";
}

TEST_F(StoreFair, WhoeverWaitsHasAPlaceToLeave) {
    const auto spot = store_.line_up(wanted(), *wake_);
    EXPECT_FALSE(spot->must_leave());
    look(*spot, 0, 5'000, joined);
    EXPECT_TRUE(spot->must_leave());
    EXPECT_FALSE(spot->uncertain());
    node_.will_answer({0, 0});
    complete(spot->leave());
    EXPECT_EQ(node_.asked.back().script, "release_fair");
    EXPECT_FALSE(spot->must_leave());
    complete(spot->leave());
    EXPECT_EQ(node_.asked.size(), 2u) << "there is nothing left to leave";
}

TEST_F(StoreFair, ASingleLookLeavesNothing) {
    const auto spot = store_.line_up(wanted(false), *wake_);
    look(*spot, 0, 5'000);
    EXPECT_FALSE(spot->must_leave());
    EXPECT_EQ(node_.asked.at(0).words.at(4), "0");
}

TEST_F(StoreFair, AWaiterListensOnAChannelOfItsOwn) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    look(*spot, 0, 5'000);
    ASSERT_EQ(node_.listeners.size(), 1u);
    EXPECT_EQ(node_.listeners.begin()->first, "redisson_lock__channel:{L}:" + to_string(alice_));
}

TEST_F(StoreFair, WhatWasBusyIsListenedToBeforeTheFirstLook) {
    const auto ask_anew = [&](std::int64_t said, std::int64_t left) {
        node_.will_answer({said, left, server_time, joined});
        const auto spot = store_.line_up(wanted(), *wake_);
        const duration term = complete(spot->look()).term;
        return std::pair{node_.listeners.size(), term > duration::zero()};
    };
    EXPECT_EQ(ask_anew(0, 5'000), std::pair(std::size_t{0}, false)) << "to look again at once";
    EXPECT_EQ(ask_anew(0, 5'000), std::pair(std::size_t{1}, true)) << "nothing was missed";
    EXPECT_EQ(ask_anew(1, 0).first, 1u);
    EXPECT_EQ(ask_anew(0, 5'000), std::pair(std::size_t{0}, false)) << "it had been free";
    node_.confirms_after.reset();
    EXPECT_EQ(ask_anew(0, 5'000), std::pair(std::size_t{1}, false)) << "nobody confirmed";
}

TEST_F(StoreFair, WhoeverDoesNotWaitListensToNothing) {
    const auto waits = store_.line_up(wanted(), *wake_);
    look(*waits, 0, 5'000, joined);
    const auto spot = store_.line_up(wanted(false), *wake_);
    look(*spot, 0, 5'000);
    EXPECT_TRUE(node_.listeners.empty());
}

TEST_F(StoreFair, APlaceThatIsGoneAfterASilenceIsToldOnce) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(25s);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(25s);
    look(*spot, 0, 5'000, joined);
    EXPECT_EQ(told_.count(event_kind::impaired), 1u);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text, HasSubstr("not prolonged"));
    EXPECT_EQ(last_patience(), "21000");
}

TEST_F(StoreFair, APlaceThatAFullServerDidNotProlongWasNotTakenAway) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(15s);
    look(*spot, 0, 5'000, stays);
    clock_.run_for(10s);
    look(*spot, 0, 5'000, joined);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text, HasSubstr("not prolonged"));
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_patience(), "21000");
}

TEST_F(StoreFair, APlaceThatWasTakenAwayInTimeLastsTwiceAsLongFromNowOn) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(5s);
    look(*spot, 0, 5'000, joined);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text, HasSubstr("clock is ahead"));
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_patience(), "42000");
    for (int i = 0; i < 6; ++i) { // each of another call
        const auto next = store_.line_up(wanted(), *wake_);
        look(*next, 0, 5'000, joined);
        look(*next, 0, 5'000, joined);
    }
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_patience(), "300000") << "no longer than a JVM's";
}

TEST_F(StoreFair, AMissingRightToPublishNamesAllChannels) {
    node_.will_answer({1, -1});
    EXPECT_TRUE(complete(store_.release(wanted())));
    EXPECT_THAT(told_.last(event_kind::impaired).value().text,
                HasSubstr("+publish &redisson_lock__channel:{L}:*"));
}

TEST_F(StoreFair, PlainAndFairHoldsAreRenewedTogether) {
    const hold fair{"L", alice_, lock_kind::fair};
    const hold plain{"M", alice_, lock_kind::plain};
    const hold* const both[] = {&fair, &plain};
    struct : renewal_sink {
        void renewed(std::size_t, const answer& said) override { held += said.granted ? 1 : 0; }
        void failed(std::size_t, const boost::system::system_error&) override {}
        int held = 0;
    } outcome;
    node_.will_answer({1, 1});
    complete(store_.renew(both, {.lease_time = 30s}, outcome));
    EXPECT_EQ(outcome.held, 2);
    EXPECT_EQ(node_.asked.size(), 1u);
}

} // namespace
} // namespace holdfast
