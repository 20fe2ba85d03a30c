// SPDX-License-Identifier: Apache-2.0
// All lanes of a client: made, lent and closed.
#include "node_fixture.hpp"
#include "redis/lanes/lanes.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <optional>
#include <thread>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class Lanes : public on_fake_server {
protected:
    Lanes() { entrance_.welcome(1); }
    ~Lanes() override { all()->close(); }

    const std::shared_ptr<lanes>& all() {
        if (!all_) {
            const auto known = std::make_shared<node_context>(how_, context());
            if (others_know_)
                known->in_trouble = [this] { ++questions_; };
            all_ = std::make_shared<lanes>(known);
        }
        return all_;
    }
    bool wish() {
        const lanes::loan mine{*all()};
        settle();
        return static_cast<bool>(mine);
    }
    std::size_t connections() const {
        return static_cast<std::size_t>(std::count_if(server_.sessions.begin(),
                                                      server_.sessions.end(),
                                                      [](const auto& each) { return each->open; }));
    }
    void wish_until_there_is_one() {
        for (int i = 0; i < 10 && !wish(); ++i) {
        }
    }

    /// A request that was sent there, and whose answer somebody reads later.
    struct owed {
        owed(Lanes& by, const lanes::loan& where) {
            request::waiter{[this] { resumed = true; }}.swap(asked.resume);
            runtime::visit here{by.entrance_};
            where->send_off(here, asked);
        }
        const std::string_view keys[1] = {"k"};
        request asked{holdfast::script, keys, {}};
        bool resumed = false;
    };

    runtime::monitor entrance_{io_};
    bool others_know_ = false; ///< which server it is
    int questions_ = 0;        ///< to them

private:
    std::shared_ptr<lanes> all_;
};

TEST_F(Lanes, OneIsMadeForWhoAsksAgainAndAgain) {
    EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 0u) << "for one call there is the shared connection";
    wish_until_there_is_one();
    EXPECT_EQ(connections(), 1u);
    EXPECT_TRUE(wish());
}

TEST_F(Lanes, OneIsLentToOneCallAtATime) {
    wish_until_there_is_one();
    const lanes::loan mine{*all()};
    EXPECT_TRUE(mine);
    EXPECT_FALSE(wish());
}

TEST_F(Lanes, ThereAreAsManyAsAllowed) {
    how_.lanes_max = 1;
    wish_until_there_is_one();
    const lanes::loan mine{*all()};
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 1u);
}

TEST_F(Lanes, WhatNobodyUsesForTenSecondsIsClosed) {
    wish_until_there_is_one();
    pass(9s);
    ASSERT_TRUE(wish());
    pass(9s);
    EXPECT_EQ(connections(), 1u) << "used since";
    pass(20s);
    EXPECT_EQ(connections(), 0u);
}

TEST_F(Lanes, ThoseToAServerThatWasLeftEndAsSoonAsNobodyUsesThem) {
    how_.lanes_max = 2;
    wish_until_there_is_one();
    {
        const lanes::loan mine{*all()};
        wish_until_there_is_one();
        ASSERT_EQ(connections(), 2u);
        all()->cut({store_errc::read_only, "READONLY"});
        settle();
        EXPECT_EQ(connections(), 1u);
    }
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(Lanes, WhileOneIsNotAnsweredForAQuarterOfTheTimeOthersAreAsked) {
    others_know_ = true;
    wish_until_there_is_one();
    {
        const lanes::loan mine{*all()};
        pass(749ms);
        EXPECT_EQ(questions_, 0);
        pass(1ms);
        EXPECT_EQ(questions_, 1);
        pass(249ms);
        EXPECT_EQ(questions_, 1);
        pass(1ms);
        EXPECT_EQ(questions_, 2) << "from then on more often";
    }
    pass(5s);
    EXPECT_EQ(questions_, 2);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(wish());
        pass(600ms);
    }
    EXPECT_EQ(questions_, 2) << "each was answered in time";
}

TEST_F(Lanes, WhileOneOwesAnAnswerForThatLongOthersAreAsked) {
    others_know_ = true;
    wish_until_there_is_one();
    server_.says.erase("EVALSHA");
    std::optional<lanes::loan> mine{*all()};
    owed sent{*this, *mine};
    mine.reset();
    all()->collect_soon();
    pass(750ms);
    EXPECT_EQ(questions_, 1);
    pass(3s);
    EXPECT_TRUE(sent.resumed);
    const int by_then = questions_;
    pass(3s);
    EXPECT_EQ(questions_, by_then);
}

TEST_F(Lanes, OneThatIsLentForLongIsNotIdle) {
    wish_until_there_is_one();
    const lanes::loan mine{*all()};
    pass(1min);
    EXPECT_EQ(connections(), 1u);
    EXPECT_TRUE(mine->alive());
}

TEST_F(Lanes, OneIsEnoughForOneCallAfterAnother) {
    how_.lanes_max = 2;
    wish_until_there_is_one();
    {
        const lanes::loan mine{*all()};
        wish_until_there_is_one();
    }
    ASSERT_EQ(connections(), 2u);
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(wish());
        pass(1s);
    }
    EXPECT_EQ(connections(), 1u) << "the other one was idle";
}

TEST_F(Lanes, OneThatTheServerClosedIsNotLentAndAnotherIsMade) {
    wish_until_there_is_one();
    server_.drop_connections();
    settle();
    EXPECT_FALSE(wish());
    wish_until_there_is_one();
    EXPECT_EQ(connections(), 1u);
}

TEST_F(Lanes, OneThatWasLeftIsNotLentEvenAMomentLater) {
    wish_until_there_is_one();
    all()->cut({store_errc::read_only, "READONLY"});
    const lanes::loan mine{*all()};
    EXPECT_FALSE(mine);
}

TEST_F(Lanes, OneThatIsBeingMadeEndsWithTheServerThatIsLeft) {
    server_.says.erase("ROLE");
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 1u) << "one at a time";
    all()->cut({store_errc::read_only, "READONLY"});
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(Lanes, OneThatIsBeingMadeEndsWithTheClient) {
    server_.says.erase("ROLE");
    while (connections() == 0)
        (void)wish();
    all()->close();
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(Lanes, WhoWaitsAtOneIsNotKeptWaitingByTheEndOfTheClient) {
    server_.says.erase("EVALSHA");
    wish_until_there_is_one();
    const lanes::loan mine{*all()};
    std::string told;
    std::thread asks{[&] {
        const std::string_view keys[] = {"k"};
        request one{holdfast::script, keys, {}};
        runtime::visit here{entrance_};
        try {
            (void)mine->ask(here, one);
        } catch (const boost::system::system_error& why) {
            told = why.what();
        }
    }};
    EXPECT_TRUE(support::eventually([this] {
        io_.restart();
        io_.poll(); // the clock is read over there
        return !server_.last().asked.empty();
    }));
    {
        const runtime::visit here{entrance_};
        all()->close();
    }
    asks.join();
    EXPECT_THAT(told, ::testing::HasSubstr("lost")) << "and not after the usual time";
}

TEST_F(Lanes, OneThatIsBrokenIsClosedAsSoonAsItIsGivenBack) {
    wish_until_there_is_one();
    {
        const lanes::loan mine{*all()};
        ASSERT_TRUE(mine);
        server_.last().send("HTTP/1.1 400 Bad Request\r\n");
        mine->collect();
    }
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(Lanes, AServerThatRefusesThemIsNotStormed) {
    server_.says["CLIENT"] = "-ERR max number of clients reached\r\n";
    for (int i = 0; i < 6'000; ++i) {
        EXPECT_FALSE(wish());
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 150u);
}

TEST_F(Lanes, WhatOneOwesIsNotCollectedWhileItIsLent) {
    wish_until_there_is_one();
    std::optional<lanes::loan> mine{std::in_place, *all()};
    const owed sent{*this, *mine};
    all()->collect_soon();
    pass(10ms);
    EXPECT_FALSE(sent.resumed) << "another thread may be reading there";
    mine.reset();
    pass(1ms);
    EXPECT_TRUE(sent.resumed);
}

TEST_F(Lanes, OneWhoseAnswerMadeNoSenseIsCondemnedAndNoOther) {
    how_.lanes_max = 2;
    wish_until_there_is_one();
    std::optional<lanes::loan> mine{std::in_place, *all()};
    wish_until_there_is_one();
    ASSERT_EQ(connections(), 2u);
    owed sent{*this, *mine};
    settle();
    (*mine)->collect();
    ASSERT_TRUE(sent.resumed);
    all()->distrust(sent.asked.take_answer());
    settle();
    EXPECT_FALSE((*mine)->alive());
    EXPECT_EQ(connections(), 1u) << "at once, though it is lent";
    mine.reset();
    EXPECT_TRUE(wish());
}

} // namespace
} // namespace holdfast::redis
