// SPDX-License-Identifier: Apache-2.0
#include "redis/client/subscriber.hpp"

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using kind = reply::kind;
using ::testing::HasSubstr;

class bell final : public alarm {
public:
    asio::awaitable<void> wait_until(time_point) override { co_return; }
    void ring() noexcept override { ++rings; }
    int rings = 0;
};

reply text(std::string words, kind type = kind::text) {
    reply made;
    made.type = type;
    made.text = std::move(words);
    return made;
}

class Channels : public ::testing::Test {
protected:
    ~Channels() override {
        all_.disconnected();
        for (listener* one : {&a_, &b_})
            if (one->where)
                all_.remove(*one, {});
        EXPECT_EQ(all_.size(), 0u) << "a channel was left behind";
    }

    static time_point at(int ms) { return time_point{duration{ms}}; }

    /// What it tells the server now, without the protocol around it.
    std::string tells(int now = 0) {
        std::string out, words;
        all_.compose(out, at(now));
        for (const char* word : {"UNSUBSCRIBE\r\n", "SUBSCRIBE\r\n", "PING\r\n"})
            for (auto place = out.find(word); place != std::string::npos;
                 place = out.find(word, place + 1))
                if (place > 0 && out[place - 1] == '\n')
                    words += std::string(word).substr(0, std::string(word).find('\r')) + " ";
        return words;
    }
    void answer(std::string verb, std::string name) {
        reply said;
        said.type = kind::array;
        said.items = {text(std::move(verb)), text(std::move(name)), text("1")};
        EXPECT_FALSE(all_.hear(said, at(0)));
    }
    std::optional<net::failure> refuse(std::string words, int try_again_at = 1000) {
        return all_.hear(text(std::move(words), kind::error), at(try_again_at));
    }
    void listen(listener& who, int at_once = 1) {
        all_.add(who, "ch");
        if (at_once) {
            all_.connected();
            tells();
            answer("subscribe", "ch");
        }
    }

    channels all_;
    bell bell_a_, bell_b_;
    listener a_{bell_a_}, b_{bell_b_};
};

TEST_F(Channels, SubscribeOnceForAllWhoListen) {
    all_.connected();
    all_.add(a_, "ch");
    all_.add(b_, "ch");
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    EXPECT_FALSE(channels::confirmed(*a_.where));
    answer("subscribe", "ch");
    EXPECT_TRUE(channels::confirmed(*a_.where));
    answer("message", "ch");
    EXPECT_EQ(bell_a_.rings, 1);
    EXPECT_EQ(bell_b_.rings, 1);
    answer("message", "another");
    EXPECT_EQ(bell_a_.rings, 1);
}

TEST_F(Channels, KeepASubscriptionForAWhile) {
    listen(a_);
    all_.remove(a_, at(5000));
    all_.advance(at(4999));
    EXPECT_EQ(tells(), "");
    all_.add(b_, "ch");
    EXPECT_TRUE(channels::confirmed(*b_.where)); // without a message
    all_.advance(at(9000));
    EXPECT_EQ(tells(), "");
}

TEST_F(Channels, LetASubscriptionThatShallNotLingerGoAtOnce) {
    listen(a_);
    all_.remove(a_, std::nullopt);
    EXPECT_EQ(all_.next_due(), std::nullopt);
    EXPECT_EQ(tells(), "UNSUBSCRIBE ");
    answer("unsubscribe", "ch");
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Channels, KeepASubscriptionThatShallNotLingerForAnotherWhoListens) {
    listen(a_);
    all_.add(b_, "ch");
    all_.remove(a_, std::nullopt);
    EXPECT_EQ(tells(), "");
    EXPECT_TRUE(channels::confirmed(*b_.where));
}

TEST_F(Channels, LetALingeringSubscriptionGo) {
    listen(a_);
    all_.remove(a_, at(5000));
    EXPECT_EQ(all_.next_due(), at(5000));
    EXPECT_TRUE(all_.any_wanted());
    all_.advance(at(5000));
    EXPECT_FALSE(all_.any_wanted());
    EXPECT_EQ(tells(), "UNSUBSCRIBE ");
    EXPECT_EQ(all_.size(), 1u);
    answer("unsubscribe", "ch");
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Channels, WhoComesWhileWeAreLeavingSubscribesAgain) {
    listen(a_);
    all_.remove(a_, at(5));
    all_.advance(at(5));
    EXPECT_EQ(tells(), "UNSUBSCRIBE ");
    all_.add(b_, "ch");
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    answer("unsubscribe", "ch");
    EXPECT_FALSE(channels::confirmed(*b_.where));
    answer("subscribe", "ch");
    EXPECT_TRUE(channels::confirmed(*b_.where));
}

TEST_F(Channels, WhoComesBeforeWeSaidThatWeLeaveCostsNothing) {
    listen(a_);
    all_.remove(a_, at(5));
    all_.advance(at(5));
    all_.add(b_, "ch");
    EXPECT_EQ(tells(), "");
    EXPECT_TRUE(channels::confirmed(*b_.where));
}

TEST_F(Channels, ThatAreHeardAgainRingOnce) {
    listen(a_);
    EXPECT_EQ(bell_a_.rings, 0); // nothing could be missed
    all_.disconnected();
    EXPECT_FALSE(channels::confirmed(*a_.where));
    all_.connected();
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    EXPECT_EQ(bell_a_.rings, 0);
    answer("subscribe", "ch");
    EXPECT_EQ(bell_a_.rings, 1);
}

TEST_F(Channels, NobodyListensToAreNotSubscribedAgain) {
    listen(a_);
    all_.remove(a_, at(5000));
    all_.disconnected();
    EXPECT_EQ(all_.size(), 0u);
    EXPECT_FALSE(all_.any_wanted());
    EXPECT_FALSE(all_.next_due());
}

TEST_F(Channels, ARefusalIsThatChannelsAlone) {
    all_.connected();
    all_.add(a_, "forbidden");
    all_.add(b_, "ch");
    EXPECT_EQ(tells(), "SUBSCRIBE SUBSCRIBE ");
    const auto why = refuse("NOPERM this user has no permissions to access one of the channels");
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), errc::refused);
    EXPECT_THAT(why->what(), HasSubstr("cannot listen to forbidden: NOPERM"));
    answer("subscribe", "ch");
    EXPECT_FALSE(channels::confirmed(*a_.where));
    EXPECT_TRUE(all_.given_up(*a_.where));
    EXPECT_TRUE(channels::confirmed(*b_.where));
}

TEST_F(Channels, ARefusedOneIsTriedAgainAndRingsWhenItIsHeard) {
    all_.connected();
    all_.add(a_, "ch");
    tells();
    refuse("BUSY Redis is busy running a script", 1000);
    EXPECT_EQ(all_.next_due(), at(1000));
    all_.add(b_, "ch"); // not at once because somebody else asks
    EXPECT_EQ(tells(), "");
    all_.advance(at(1000));
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    answer("subscribe", "ch");
    EXPECT_TRUE(channels::confirmed(*a_.where));
    EXPECT_EQ(bell_a_.rings, 1);
}

TEST_F(Channels, ARefusedOneNobodyListensToIsForgotten) {
    all_.connected();
    all_.add(a_, "ch");
    tells();
    all_.remove(a_, at(5000));
    refuse("NOPERM no");
    EXPECT_EQ(all_.size(), 0u);
    EXPECT_FALSE(all_.next_due());
}

TEST_F(Channels, WhatWasAskedAfterARefusedSubscriptionDecides) {
    all_.connected();
    all_.add(a_, "ch");
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    all_.remove(a_, at(5));
    all_.advance(at(5));
    EXPECT_EQ(tells(), "UNSUBSCRIBE ");
    all_.add(b_, "ch");
    EXPECT_EQ(tells(), "SUBSCRIBE ");
    EXPECT_FALSE(refuse("BUSY Redis is busy running a script"));
    answer("unsubscribe", "ch");
    answer("subscribe", "ch");
    EXPECT_TRUE(channels::confirmed(*b_.where));
}

TEST_F(Channels, ARefusedUnsubscriptionIsNoMatter) {
    listen(a_);
    all_.remove(a_, at(5));
    all_.advance(at(5));
    tells();
    EXPECT_FALSE(refuse("NOPERM no"));
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Channels, OneThatTheServerEndsWhileItLingersIsForgotten) {
    listen(a_);
    all_.remove(a_, at(5000));
    answer("unsubscribe", "ch");
    EXPECT_EQ(all_.size(), 0u);
    EXPECT_FALSE(all_.next_due());
}

TEST_F(Channels, OneThatTheServerEndsWhileItIsAskedForIsDecidedByTheAnswer) {
    all_.connected();
    all_.add(a_, "ch");
    tells();
    answer("unsubscribe", "ch");
    EXPECT_FALSE(all_.next_due());
    answer("subscribe", "ch");
    EXPECT_TRUE(channels::confirmed(*a_.where));
    EXPECT_EQ(tells(), "");
}

TEST_F(Channels, AnswersInAnotherOrderMakeNoSense) {
    all_.connected();
    all_.add(a_, "ch");
    tells();
    EXPECT_THROW(answer("subscribe", "another"), net::failure);
    EXPECT_THROW(answer("subscribe", "ch"), net::failure); // only one was awaited
    EXPECT_THROW(refuse("NOPERM no"), net::failure);
    EXPECT_THROW((void)all_.hear(text("PONG", kind::status), at(0)), net::failure);
}

TEST_F(Channels, APingIsAnsweredInEitherForm) {
    listen(a_);
    reply pong;
    pong.type = kind::array;
    pong.items = {text("pong"), text("")};
    for (const reply& form : {pong, text("PONG", kind::status), text("BUSY Redis", kind::error)}) {
        all_.ping();
        EXPECT_EQ(tells(7), "PING ");
        EXPECT_EQ(all_.owed_since(), at(7));
        EXPECT_FALSE(all_.hear(form, at(0)));
        EXPECT_FALSE(all_.owed_since());
    }
}

TEST_F(Channels, WithoutAServerNobodyWaitsInVain) {
    all_.add(a_, "ch");
    EXPECT_FALSE(all_.given_up(*a_.where)); // a connection may come
    all_.give_up();
    EXPECT_TRUE(all_.given_up(*a_.where));
    all_.connected();
    EXPECT_FALSE(all_.given_up(*a_.where));
    tells();
    answer("subscribe", "ch");
    EXPECT_EQ(bell_a_.rings, 1); // it did not know whether it was heard
}

} // namespace
} // namespace holdfast::redis
