// SPDX-License-Identifier: Apache-2.0
// lock_in_queue.lua and release_to_queue.lua: the queue of waiting clients, and the release that
// grants the lock to the first of them.
#include "scripts_fixture.hpp"
#include "store/redis/lock_requests.hpp"
#include "support/redis_connection.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::UnorderedElementsAre;

class HandOffScripts : public on_limited_scripts {
protected:
    static constexpr const char* carol = "cccccccc-0000-4000-8000-000000000003:3";

    enum { busy = 0, granted = 1, late = 2 };

    redis::reply ask_in_queue(const std::string& owner, int number, std::int64_t deadline = 0,
                              std::int64_t lease = 30'000) {
        return run(redis::scripts::lock_in_queue, {name_},
                   {std::to_string(lease), owner, std::to_string(deadline), std::to_string(number),
                    "10000", queue_});
    }
    std::int64_t verdict(const redis::reply& answer) { return integers_of(answer).at(0); }
    bool is_queued(const redis::reply& answer) { return integers_of(answer).at(3) == 1; }

    /// Asks for a fenced mutex. `form`: f, or d for tokens that are at least the time; + for
    /// several tokens.
    redis::reply ask_fenced(const std::string& owner, int number, const std::string& form = "f") {
        return run(redis::scripts::lock_in_queue, {name_, counter_},
                   {"30000", owner, "0", std::to_string(number), "10000", queue_,
                    form.ends_with('+') ? "64" : "1", form.starts_with('d') ? "1" : "0"});
    }
    std::int64_t first_token(const redis::reply& answer) { return integers_of(answer).at(4); }

    redis::reply hand_on(const std::string& owner, const std::string& unseen = "0") {
        return run(redis::scripts::release_to_queue, {name_},
                   {owner, channel_, queue_, "holdfast_inbox:{L}", "2000", counter_, "64", unseen,
                    "PUBLISH"});
    }

    std::vector<std::string> queued() {
        std::vector<std::string> all;
        for (const redis::reply& each : server().command({"ZRANGE", queue_, "0", "-1"}).items)
            all.push_back(each.text);
        return all;
    }

    /// Connection of a client in the queue, which receives its grants.
    struct inbox {
        inbox(support::redis_server& server, const std::string& owner)
            : connection{server.socket_path()} {
            const std::string client = owner.substr(0, owner.find(':'));
            for (const std::string& each :
                 {"redisson_lock__channel:{L}" + std::string{}, std::string{"holdfast_waiting:{L}"},
                  "holdfast_inbox:{L}:" + client})
                connection.command({"SUBSCRIBE", each});
        }
        /// Returns the channel and the text of the next message.
        std::string next() {
            const auto message = connection.next_message(duration{5'000});
            return message ? message->items[1].text + " " + message->items[2].text : "nothing";
        }
        support::redis_connection connection;
    };

    std::string queue_ = "holdfast_waiting:{L}", counter_ = "redisson_lock_token:{L}";
};
HOLDFAST_ON_EACH_SERVER(HandOffScripts);

TEST_P(HandOffScripts, FreeLockIsTakenAndNobodyIsQueued) {
    EXPECT_THAT(integers_of(ask_in_queue(alice, 1)), ElementsAre(granted, 0, Gt(0), 0, 0));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_THAT(queued(), IsEmpty());
}

TEST_P(HandOffScripts, ReleaseGrantsTheLockToTheFirstInTheQueueAndNotifiesOnlyIt) {
    inbox bobs{server(), bob}, carols{server(), carol};
    ask_in_queue(alice, 1);
    EXPECT_TRUE(is_queued(ask_in_queue(bob, 1)));
    server().command({"ZADD", queue_, "INCR", "10240", bob}); // a later arrival than the next one
    EXPECT_TRUE(is_queued(ask_in_queue(carol, 1)));
    server().command({"ZADD", queue_, "INCR", "1024000", carol});
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 1, 1));
    EXPECT_EQ(count_of(bob), "1");
    EXPECT_LE(time_left(), 2'000);
    EXPECT_THAT(queued(), ElementsAre(carol));
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 2 1");
    EXPECT_THAT(integers_of(hand_on(bob)), ElementsAre(1, 1, 1));
    EXPECT_EQ(carols.next(), "holdfast_inbox:{L}:cccccccc-0000-4000-8000-000000000003 3 1");
}

TEST_P(HandOffScripts, OwnerOfAFencedMutexGetsItsTokenWithTheMessage) {
    inbox bobs{server(), bob}, carols{server(), carol};
    EXPECT_EQ(first_token(ask_fenced(alice, 1)), 1);
    EXPECT_TRUE(is_queued(ask_fenced(bob, 1)));
    EXPECT_THAT(queued(), ElementsAre(bob + std::string{" f"}));
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 1, 1));
    EXPECT_EQ(count_of(bob), "1");
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 2 1 2");
    EXPECT_THAT(integers_of(ask_fenced(bob, 2)), ElementsAre(granted, 0, Gt(0), 0, 2))
        << "a request confirms the same token";
    ask_fenced(carol, 1);
    hand_on(bob);
    EXPECT_EQ(carols.next(), "holdfast_inbox:{L}:cccccccc-0000-4000-8000-000000000003 3 1 3");
}

TEST_P(HandOffScripts, OwnerThatNeedsSeveralTokensGetsThem) {
    inbox bobs{server(), bob};
    EXPECT_EQ(first_token(ask_fenced(alice, 1, "f+")), 1);
    ask_fenced(bob, 1, "f+");
    EXPECT_THAT(queued(), ElementsAre(bob + std::string{" f+"}));
    hand_on(alice);
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 2 1 65");
    EXPECT_EQ(server().command({"GET", counter_}).text, "128");
    EXPECT_EQ(first_token(ask_fenced(bob, 2, "f+")), 65) << "a request confirms the same tokens";
}

TEST_P(HandOffScripts, TokensThatADeadClientWouldHaveGotAreNotGrantedAgain) {
    inbox carols{server(), carol};
    ask_fenced(alice, 1);
    ask_fenced(bob, 1, "f+");
    server().command({"ZADD", queue_, "INCR", "-1024000", bob + std::string{" f+"}});
    ask_fenced(carol, 1);
    hand_on(alice);
    EXPECT_EQ(carols.next(), "holdfast_inbox:{L}:cccccccc-0000-4000-8000-000000000003 3 1 66");
}

TEST_P(HandOffScripts, DatedTokenIsTheTimeOfTheServer) {
    inbox bobs{server(), bob};
    const std::int64_t before = first_token(ask_fenced(alice, 1, "d"));
    ask_fenced(bob, 1, "d");
    hand_on(alice);
    const std::string message = bobs.next();
    const std::int64_t token = std::stoll(message.substr(message.rfind(' ')));
    EXPECT_GT(token, before);
    EXPECT_GT(token, 1'700'000'000'000'000);
}

TEST_P(HandOffScripts, OwnersOfBothKindsStandInOneQueueAndLeaveIt) {
    ask_in_queue(alice, 1);
    ask_in_queue(carol, 1);
    for (const char* const form : {"f", "f+", "d", "d+"}) {
        ask_fenced(bob, 1, form);
        EXPECT_THAT(queued(), UnorderedElementsAre(carol, std::string{bob} + " " + form));
        hand_on(bob); // bob gives up
        EXPECT_THAT(queued(), ElementsAre(carol));
    }
    server().command({"DEL", name_});
    EXPECT_EQ(verdict(ask_in_queue(carol, 2)), granted);
    EXPECT_THAT(queued(), IsEmpty());
}

// While the slot of the lock moves, the counter may be at the other node. A new one would grant the
// same tokens again.
TEST_P(HandOffScripts, MissingCounterOfTokensMakesTheReleaseAnOrdinaryOne) {
    inbox bobs{server(), bob};
    ask_fenced(alice, 1);
    ask_fenced(bob, 1);
    server().command({"DEL", counter_});
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 1, 0));
    EXPECT_EQ(server().command({"EXISTS", counter_}).integer, 0);
    EXPECT_EQ(bobs.next(), channel_ + " 0");
}

TEST_P(HandOffScripts, WrongCounterOfTokensMakesTheReleaseAnOrdinaryOne) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_fenced(bob, 1);
    server().command({"SADD", counter_, "no counter"});
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 1, 0));
    EXPECT_FALSE(exists());
    EXPECT_EQ(bobs.next(), channel_ + " 0");
}

TEST_P(HandOffScripts, NextRequestOfTheNewOwnerConfirmsTheWholeLease) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    hand_on(alice);
    EXPECT_EQ(verdict(ask_in_queue(bob, 2)), granted);
    EXPECT_GT(time_left(), 24'000);
}

TEST_P(HandOffScripts, LaterRequestKeepsTheArrivalAndHasItsOwnNumber) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    const double before = std::stod(server().command({"ZSCORE", queue_, bob}).text);
    ask_in_queue(bob, 7);
    EXPECT_EQ(std::stod(server().command({"ZSCORE", queue_, bob}).text), before + 6);
    hand_on(alice);
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 2 7");
}

TEST_P(HandOffScripts, MessageIsTheOneThatTheClientExpects) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 2050); // the queue counts modulo 1024
    hand_on(alice);
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 " +
                               redis::grant_message(owner_id{{}, 2}, 2));
    EXPECT_EQ(redis::grant_message(owner_id{{}, 2}, 2050), "") << "the text is not unique";
}

TEST_P(HandOffScripts, DeadClientIsPassedOver) {
    inbox carols{server(), carol};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    server().command({"ZADD", queue_, "INCR", "-1024000", bob});
    ask_in_queue(carol, 1);
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 1, 1));
    EXPECT_EQ(count_of(carol), "1");
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_THAT(queued(), IsEmpty());
}

TEST_P(HandOffScripts, WithoutALiveClientInTheQueueAllWaitersAreNotified) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", channel_});
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    EXPECT_THAT(integers_of(hand_on(alice, "0")), ElementsAre(1, 1, 0));
    EXPECT_FALSE(exists());
    EXPECT_EQ(listener.next_message(duration{5'000})->items[2].text, "0");
}

TEST_P(HandOffScripts, ClientThatWaitsOutsideTheQueueGetsAboutHalfOfTheReleases) {
    inbox bobs{server(), bob};
    support::redis_connection jvm{server().socket_path()};
    jvm.command({"SUBSCRIBE", channel_});
    int to_all = 0;
    constexpr int times = 200;
    for (int i = 0; i < times; ++i) {
        server().command({"DEL", name_, queue_});
        ask_in_queue(alice, 1);
        ask_in_queue(bob, 1);
        to_all += integers_of(hand_on(alice)).at(2) == 0;
    }
    EXPECT_GT(to_all, times / 8);
    EXPECT_LT(to_all, times * 7 / 8);
}

// Such a client knows only the lease of the former holder.
TEST_P(HandOffScripts, ClientThatWaitsOutsideTheQueueIsNotifiedOfEachRelease) {
    inbox bobs{server(), bob};
    support::redis_connection jvm{server().socket_path()};
    jvm.command({"SUBSCRIBE", channel_});
    int granted_to_bob = 0;
    for (int i = 0; i < 40; ++i) {
        server().command({"DEL", name_, queue_});
        ask_in_queue(alice, 1);
        ask_in_queue(bob, 1);
        granted_to_bob += integers_of(hand_on(alice)).at(2) == 1;
        const auto message = jvm.next_message(duration{5'000});
        ASSERT_TRUE(message) << i;
        EXPECT_EQ(message->items[2].text, "0");
    }
    EXPECT_GT(granted_to_bob, 0);
}

TEST_P(HandOffScripts, WaiterThatLeavesPassesItsGrantOn) {
    inbox bobs{server(), bob}, carols{server(), carol};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    hand_on(alice);
    ask_in_queue(carol, 1);
    EXPECT_THAT(integers_of(hand_on(bob)), ElementsAre(1, 1, 1));
    EXPECT_EQ(count_of(carol), "1");
}

TEST_P(HandOffScripts, WaiterThatLeavesTakesItsEntryAway) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    EXPECT_THAT(integers_of(hand_on(bob)), ElementsAre(0, 0, 0));
    EXPECT_THAT(queued(), IsEmpty());
    EXPECT_EQ(count_of(alice), "1");
}

TEST_P(HandOffScripts, RepeatedReleaseGrantsNothing) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    hand_on(alice);
    ask_in_queue(carol, 1);
    ask_in_queue(bob, 1);
    EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(0, 0, 0));
    EXPECT_EQ(count_of(carol), "1");
    EXPECT_THAT(queued(), ElementsAre(bob));
}

TEST_P(HandOffScripts, LateRequestNeitherTakesNorQueues) {
    ask_in_queue(alice, 1);
    EXPECT_EQ(verdict(ask_in_queue(bob, 1, server_micros() - 1'000'000)), late);
    EXPECT_THAT(queued(), IsEmpty());
}

TEST_P(HandOffScripts, QueueEndsWithItsClients) {
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    EXPECT_THAT(ask({"PTTL", queue_}), testing::AllOf(Gt(5'000), Le(10'000)));
}

TEST_P(HandOffScripts, WithoutRightsOnTheQueueTheOwnerWaitsOutsideIt) {
    for (const char* each : {"zadd", "zscore", "time"}) {
        server().command({"DEL", name_, queue_});
        deny(each);
        EXPECT_EQ(verdict(ask_in_queue(alice, 1)), granted) << each;
        const redis::reply second = ask_in_queue(bob, 1);
        EXPECT_EQ(verdict(second), busy) << each;
        EXPECT_EQ(is_queued(second), std::string{each} == "zscore") << each;
        EXPECT_EQ(integers_of(hand_on(alice)).at(0), 1) << each;
        EXPECT_FALSE(exists()) << each;
        allow_all();
    }
}

TEST_P(HandOffScripts, WithoutRightsToHandOnTheLockIsReleased) {
    for (const char* each : {"zcard", "zpopmin", "pubsub"}) {
        server().command({"DEL", name_, queue_});
        ask_in_queue(alice, 1);
        ask_in_queue(bob, 1);
        deny(each);
        EXPECT_THAT(integers_of(hand_on(alice)), ElementsAre(1, 0, 0)) << each;
        EXPECT_FALSE(exists()) << each;
        allow_all();
    }
}

// With two publish commands, one may be denied and the other may reach the next owner, which then
// relies on the grant.
TEST_P(HandOffScripts, GrantStaysIfOneOfTwoPublishCommandsIsDenied) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    const redis::reply said = run(redis::scripts::release_to_queue, {name_},
                                  {alice, channel_, queue_, "holdfast_inbox:{L}", "2000", counter_,
                                   "64", "0", "PUBLISH", "NOSUCHCOMMAND"});
    EXPECT_THAT(integers_of(said), ElementsAre(1, -1, 1));
    EXPECT_EQ(bobs.next(), "holdfast_inbox:{L}:bbbbbbbb-0000-4000-8000-000000000002 2 1");
    EXPECT_EQ(count_of(bob), "1");
}

TEST_P(HandOffScripts, FullServerStillReleasesAndHandsOn) {
    inbox bobs{server(), bob};
    ask_in_queue(alice, 1);
    ask_in_queue(bob, 1);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_FALSE(is_queued(ask_in_queue(carol, 1)));
    EXPECT_EQ(integers_of(hand_on(alice)).at(0), 1);
    EXPECT_EQ(count_of(bob), "1");
    server().command({"CONFIG", "SET", "maxmemory", "0"});
}

} // namespace
} // namespace holdfast
