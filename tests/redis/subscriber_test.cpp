// SPDX-License-Identifier: Apache-2.0
// Subscriptions to channels.
#include "channels_fixture.hpp"

#include <set>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using Subscriber = on_fake_channels;

TEST_F(Subscriber, HearsWhatIsPublished) {
    auto& one = listen();
    confirm(one);
    EXPECT_EQ(one.confirmed, true);
    EXPECT_EQ(one.rings, 0);
    publish();
    publish();
    EXPECT_EQ(one.rings, 2);
    publish("another");
    EXPECT_EQ(one.rings, 2);
}

TEST_F(Subscriber, HasAConnectionOfItsOwn) {
    ask();
    listen();
    settle();
    EXPECT_EQ(server_.sessions.size(), 2u);
    EXPECT_EQ(server_.set_up, 5u + 2u); // a name, and which server it is
}

TEST_F(Subscriber, SubscribesOnceForAllWhoListen) {
    auto& one = listen();
    auto& two = listen();
    confirm(one);
    confirm(two);
    EXPECT_EQ(two.confirmed, true);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 1u);
    publish();
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(two.rings, 1);
    one.subscriber.reset();
    publish();
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(two.rings, 2);
}

TEST_F(Subscriber, WaitsForTheConfirmationNoLongerThanItsLimit) {
    server_.says.erase("SUBSCRIBE");
    auto& one = listen();
    confirm(one, 700ms);
    pass(699ms);
    EXPECT_FALSE(one.confirmed);
    pass(1ms);
    EXPECT_EQ(one.confirmed, false);
    // Confirmed later, it rings: something may have been missed.
    server_.last().send("*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n");
    settle();
    EXPECT_EQ(one.rings, 1);
    confirm(one, 0ms);
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(Subscriber, KeepsASubscriptionForAWhile) {
    auto& one = listen();
    settle();
    one.subscriber.reset();
    pass(4'999ms);
    auto& two = listen();
    confirm(two, 0ms);
    EXPECT_EQ(two.confirmed, true);
    two.subscriber.reset();
    pass(4'999ms);
    EXPECT_EQ(server_.count_asked("UNSUBSCRIBE"), 0u);
    pass(1ms);
    EXPECT_EQ(server_.count_asked("UNSUBSCRIBE"), 1u);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 1u);
    auto& three = listen();
    confirm(three);
    EXPECT_EQ(three.confirmed, true);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 2u);
}

TEST_F(Subscriber, LetsASubscriptionGoOnTimeEvenIfNothingElseIsDueSoSoon) {
    how_.subscription_linger = 1s;
    auto& one = listen();
    settle();
    one.subscriber.reset();
    pass(1s);
    EXPECT_EQ(server_.count_asked("UNSUBSCRIBE"), 1u);
}

TEST_F(Subscriber, ComesBackByItselfAndRingsForEachChannelOnce) {
    auto& one = listen("a");
    auto& two = listen("b");
    auto& lingers = listen("c");
    settle();
    lingers.subscriber.reset();
    server_.drop_connections();
    pass(2s);
    EXPECT_EQ(server_.sessions.size(), 2u);
    EXPECT_EQ(server_.last().asked.size(), 2u); // and not the one that nobody listens to
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(two.rings, 1);
    publish("b");
    EXPECT_EQ(two.rings, 2);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_F(Subscriber, ComesBackOnlyIfSomebodyListens) {
    auto& one = listen();
    settle();
    one.subscriber.reset();
    server_.drop_connections();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 1u);
    auto& two = listen();
    confirm(two);
    pass(2s);
    EXPECT_EQ(two.confirmed, true);
}

TEST_F(Subscriber, WithoutAServerTellsAtOnceAndRingsWhenItHears) {
    server_.stop();
    auto& one = listen();
    confirm(one);
    EXPECT_EQ(one.confirmed, false); // and did not wait for its limit
    pass(30s);
    server_.start();
    pass(3s);
    EXPECT_EQ(one.rings, 1);
    confirm(one, 0ms);
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(Subscriber, ARefusedChannelShiftsNoOther) {
    listen("first");
    settle();
    server_.says.erase("SUBSCRIBE");
    auto& forbidden = listen("forbidden");
    auto& allowed = listen("allowed");
    settle();
    server_.last().send("-NOPERM no permissions to access one of the channels\r\n"
                        "*3\r\n$9\r\nsubscribe\r\n$7\r\nallowed\r\n:1\r\n");
    settle();
    confirm(forbidden);
    confirm(allowed);
    EXPECT_EQ(forbidden.confirmed, false);
    EXPECT_EQ(allowed.confirmed, true);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(Subscriber, ARefusalIsToldOnceAndTriedAgain) {
    server_.says["SUBSCRIBE"] = "-NOPERM no permissions\r\n";
    auto& one = listen();
    confirm(one);
    EXPECT_EQ(one.confirmed, false);
    pass(20s);
    EXPECT_GE(server_.count_asked("SUBSCRIBE"), 5u);
    EXPECT_LE(server_.count_asked("SUBSCRIBE"), 12u);
    ASSERT_EQ(told_.count(event_kind::impaired), 1u);
    EXPECT_EQ(told_.last(event_kind::impaired)->code, errc::refused);
    EXPECT_THAT(told_.last(event_kind::impaired)->text,
                HasSubstr("cannot listen to ch: NOPERM no permissions (to be granted: &ch)"));
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u); // it is there, and nothing will be back
    server_.drop_connections();
    pass(2s);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_EQ(told_.count(event_kind::impaired), 2u); // refused by the next one too
    server_.says["SUBSCRIBE"] = "";
    pass(2s);
    EXPECT_EQ(one.rings, 1);
    confirm(one, 0ms);
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(Subscriber, AsksAnIdleServerWhetherItIsThere) {
    listen();
    settle();
    pass(2'999ms);
    EXPECT_EQ(server_.count_asked("PING"), 0u);
    pass(1ms);
    EXPECT_EQ(server_.count_asked("PING"), 1u);
    pass(1h);
    EXPECT_GT(server_.count_asked("PING"), 1000u);
    EXPECT_LT(server_.count_asked("PING"), 1300u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(Subscriber, AsksNothingWhileItHears) {
    listen();
    settle();
    for (int i = 0; i < 20; ++i) {
        pass(1s);
        publish();
    }
    EXPECT_EQ(server_.count_asked("PING"), 0u);
}

TEST_F(Subscriber, ADeadServerIsFoundAndAnotherConnectionMade) {
    server_.says.erase("PING");
    auto& one = listen();
    settle();
    pass(3s + 2'999ms);
    EXPECT_EQ(server_.sessions.size(), 1u);
    pass(1s);
    EXPECT_EQ(server_.sessions.size(), 2u);
    EXPECT_FALSE(server_.sessions.front()->open);
    EXPECT_EQ(one.rings, 1);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("no answer within 3000 ms"));
}

TEST_F(Subscriber, AnUnexpectedAnswerEndsTheConnection) {
    listen();
    settle();
    server_.last().send("*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:1\r\n");
    settle();
    EXPECT_FALSE(server_.sessions.front()->open);
}

TEST_F(Subscriber, ASubscriptionThatTheServerEndsByItselfIsNoErrorAndMadeAgain) {
    auto& one = listen();
    listen("another");
    settle();
    server_.last().send("*3\r\n$11\r\nunsubscribe\r\n$2\r\nch\r\n:1\r\n");
    settle();
    confirm(one, 0ms);
    EXPECT_EQ(one.confirmed, false) << "who waits has to poll";
    EXPECT_FALSE(node().hears(redis::channel_name{"ch"}));
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 2u) << "not as fast as a server may end it";
    pass(how_.backoff_max);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 3u);
    EXPECT_EQ(one.rings, 1);
    EXPECT_TRUE(node().hears(redis::channel_name{"ch"}));
    EXPECT_EQ(server_.sessions.size(), 1u);
    EXPECT_EQ(told_.count(event_kind::impaired), 0u);
}

TEST_F(Subscriber, AnEndOfWhatItNeverAskedForIsNothing) {
    auto& one = listen();
    auto& lingers = listen("lingers");
    settle();
    lingers.subscriber.reset();
    server_.last().send("*3\r\n$12\r\nsunsubscribe\r\n$2\r\nch\r\n:0\r\n"
                        "*3\r\n$11\r\nunsubscribe\r\n$7\r\nunknown\r\n:0\r\n"
                        "*3\r\n$11\r\nunsubscribe\r\n$7\r\nlingers\r\n:0\r\n");
    settle();
    EXPECT_TRUE(server_.last().open);
    publish();
    EXPECT_EQ(one.rings, 1);
    pass(1min);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 2u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(Subscriber, AsksNothingOfTheServerWhereWaitersMayHearNothingForEver) {
    poll_bound_ = duration::max();
    listen();
    settle();
    pass(1min);
    EXPECT_EQ(server_.count_asked("PING"), 0u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(Subscriber, TimesBeyondCountingAreNever) {
    how_.command_timeout = how_.connect_timeout = how_.backoff_max = duration::max();
    how_.subscription_linger = duration::max();
    auto& lingers = listen("lingers");
    settle();
    lingers.subscriber.reset();
    server_.says["SUBSCRIBE"] = "-NOPERM no permissions\r\n";
    auto& refused = listen("refused");
    confirm(refused);
    server_.says.erase("SUBSCRIBE");
    listen("waits");
    pass(24h);
    EXPECT_EQ(server_.count_asked("SUBSCRIBE"), 3u);
    EXPECT_EQ(server_.count_asked("UNSUBSCRIBE"), 0u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(Subscriber, LeavesAServerThatWasDemotedAndRingsAtTheNext) {
    auto& one = listen();
    settle();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    ask();
    EXPECT_FALSE(server_.sessions.front()->open);
    pass(1s);
    EXPECT_EQ(one.rings, 1);
}

TEST_F(Subscriber, AClosedNodeIsDeaf) {
    auto& one = listen();
    server_.says.erase("SUBSCRIBE");
    auto& waits = listen("never");
    settle();
    confirm(waits);
    EXPECT_FALSE(waits.confirmed);
    node().close();
    settle();
    EXPECT_EQ(waits.confirmed, false);
    auto& late = listen();
    confirm(late);
    EXPECT_EQ(late.confirmed, false);
    EXPECT_EQ(one.rings, 0);
    close();
    one.subscriber.reset(); // may outlive the node
}

TEST_F(Subscriber, HearsManyChannels) {
    std::vector<listening*> some;
    for (int i = 0; i < 500; ++i)
        some.push_back(&listen("ch" + std::to_string(i)));
    settle();
    for (listening* one : some) {
        confirm(*one, 0ms);
        ASSERT_EQ(one->confirmed, true);
    }
    EXPECT_LE(server_.last().bursts, 4u);
    for (listening* one : some)
        one->subscriber.reset();
    pass(5s);
    EXPECT_EQ(server_.count_asked("UNSUBSCRIBE"), 500u);
}

// Listeners come and go, and a server refuses, stalls and hangs up, in an order drawn from a seed.
// Left in peace, everyone who still listens is heard again, was rung since the last trouble, and
// the server knows of no channel that nobody wants.

class EarInChaos : public on_fake_channels, public ::testing::WithParamInterface<unsigned> {
protected:
    EarInChaos() {
        server_.improvises = [this](const fake_server::words& request) {
            return answer_to(request);
        };
    }

    std::size_t draw(std::size_t choices) { return dice_() % choices; }

    std::optional<std::string> answer_to(const fake_server::words& request) {
        if (request[0] == "CLIENT")
            subscribed_.clear(); // another connection
        if (request[0] == "SUBSCRIBE" && draw(8) < refusals_)
            return "-NOPERM no permissions\r\n";
        if (request[0] == "SUBSCRIBE")
            subscribed_.insert(request[1]);
        if (request[0] == "UNSUBSCRIBE")
            subscribed_.erase(request[1]);
        return std::nullopt;
    }

    void do_something() {
        switch (draw(9)) {
        case 0:
        case 1:
        case 2:
            names_.push_back("ch" + std::to_string(draw(5)));
            listen(names_.back());
            return;
        case 3:
        case 4:
            if (!all_.empty())
                all_[draw(all_.size())]->subscriber.reset();
            return;
        case 5:
            return pass(duration{draw(3000)});
        case 6:
            return pass(duration{draw(12'000)});
        default:
            return disturb();
        }
    }

    void disturb() {
        if (server_.sessions.empty())
            return;
        auto& session = server_.last();
        switch (draw(6)) {
        case 0:
            for (const auto& one : all_)
                one->rings = 0;
            return server_.drop_connections();
        case 1:
            session.holds_back = true;
            return;
        case 2:
            refusals_ = 4 - refusals_;
            return;
        case 3:
            if (session.open && session.held.empty() && !session.holds_back)
                publish("ch" + std::to_string(draw(5)));
            return;
        default:
            session.release();
            session.holds_back = false;
        }
    }

    std::mt19937 dice_{GetParam()};
    std::vector<std::string> names_; // of all_, in order
    std::set<std::string> subscribed_;
    std::size_t refusals_ = 0; // of eight
};

TEST_P(EarInChaos, WhoStillListensHearsAgainAndNothingIsLeftBehind) {
    for (int i = 0; i < 200; ++i) {
        do_something();
        if (draw(2) == 0)
            settle();
    }
    refusals_ = 0;
    for (const auto& session : server_.sessions) {
        session->holds_back = false;
        session->release();
    }
    server_.drop_connections();
    for (const auto& one : all_)
        one->rings = 0;
    pass(30s);
    std::set<std::string> wanted;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!all_[i]->subscriber)
            continue;
        wanted.insert(names_[i]);
        confirm(*all_[i], 0ms);
        EXPECT_EQ(all_[i]->confirmed, true);
        EXPECT_EQ(all_[i]->rings, 1);
        publish(names_[i]);
        EXPECT_EQ(all_[i]->rings, 2);
        all_[i]->rings = 1;
        for (std::size_t other = 0; other < all_.size(); ++other)
            all_[other]->rings = 1;
    }
    EXPECT_EQ(subscribed_, wanted);
    for (const auto& one : all_)
        one->subscriber.reset();
    pass(30s);
    EXPECT_TRUE(subscribed_.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, EarInChaos, ::testing::Range(1u, 61u));

} // namespace
} // namespace holdfast
