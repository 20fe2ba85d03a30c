// SPDX-License-Identifier: Apache-2.0
// How the store waits for a fair lock: with a place in the queue, and with its own subscription.
#include "store/redis/counter_requests.hpp"
#include "store_fixture.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/client.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    /// Returns the time that the place should last, from the last request.
    std::string last_timeout() const { return node_.asked.back().words.at(5); }
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
    EXPECT_THAT(told_.last(event_kind::impaired).value().text,
                HasSubstr("could not be reached or was full"));
    EXPECT_EQ(last_timeout(), "21000");
}

TEST_F(StoreFair, APlaceThatAFullServerDidNotProlongWasNotTakenAway) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(15s);
    look(*spot, 0, 5'000, stays);
    clock_.run_for(10s);
    look(*spot, 0, 5'000, joined);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text,
                HasSubstr("could not be reached or was full"));
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_timeout(), "21000");
}

TEST_F(StoreFair, APlaceThatWasTakenAwayInTimeLastsTwiceAsLongFromNowOn) {
    const auto spot = store_.line_up(wanted(), *wake_);
    look(*spot, 0, 5'000, joined);
    clock_.run_for(5s);
    look(*spot, 0, 5'000, joined);
    EXPECT_THAT(told_.last(event_kind::impaired).value().text, HasSubstr("clock is ahead"));
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_timeout(), "42000");
    for (int i = 0; i < 6; ++i) { // each of another call
        const auto next = store_.line_up(wanted(), *wake_);
        look(*next, 0, 5'000, joined);
        look(*next, 0, 5'000, joined);
    }
    look(*spot, 0, 5'000);
    EXPECT_EQ(last_timeout(), "300000") << "no longer than a JVM's";
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

// How the store asks for the two sides of a read-write lock: marks of writers, holds beside others.

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Le;

class StoreShared : public on_scripted_node {
protected:
    ask wanted(lock_kind kind, std::uint64_t under = 0) const {
        ask made{lock_name{"L"}, alice_, kind};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        made.under = under;
        return made;
    }
    std::unique_ptr<place> in_line(const ask& want) { return store_.line_up(want, *wake_); }
    answer look(place& spot, std::int64_t said, std::int64_t left = 0) {
        node_.will_answer({said, left, server_time});
        return complete(spot.look());
    }

    const std::string alice_text_ = to_string(alice_);
    const std::string client_ = alice_text_.substr(0, alice_text_.find(':') + 1);
};

TEST_F(StoreShared, RequestsHaveTheKeysOfRedissonAndTheMarks) {
    look(*in_line(wanted(lock_kind::read)), 1);
    EXPECT_EQ(node_.asked.back().script, "lock_read");
    EXPECT_THAT(
        node_.asked.back().keys,
        ElementsAre("L", "{L}:" + alice_text_ + ":rwlock_timeout:1", "holdfast_writers:{L}"));
    EXPECT_THAT(node_.asked.back().words, ElementsAre("30000", alice_text_, ""));
    look(*in_line(wanted(lock_kind::write)), 1);
    EXPECT_EQ(node_.asked.back().script, "lock_write");
    EXPECT_THAT(node_.asked.back().keys, ElementsAre("L", "holdfast_writers:{L}"));
    EXPECT_THAT(node_.asked.back().words,
                ElementsAre("30000", alice_text_, "", "{L}", "10000", "100"))
        << "a mark lasts for two poll bounds, the head start is the least";
}

TEST_F(StoreShared, AWriterThatWaitsHasAMarkToTakeAway) {
    const auto writer = in_line(wanted(lock_kind::write)),
               reader = in_line(wanted(lock_kind::read));
    EXPECT_FALSE(look(*writer, 0, 5'000).granted);
    EXPECT_TRUE(writer->must_leave());
    node_.will_answer({0, 0});
    complete(writer->leave());
    EXPECT_EQ(node_.asked.back().script, "release_write");
    EXPECT_FALSE(look(*reader, 0, 5'000).granted);
    EXPECT_FALSE(reader->must_leave()) << "readers leave no marks";
}

TEST_F(StoreShared, ASingleLookLeavesNoMark) {
    ask once = wanted(lock_kind::write);
    once.waits = false;
    const auto spot = in_line(once);
    look(*spot, 0, 5'000);
    EXPECT_EQ(node_.asked.back().words.at(4), "0");
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(StoreShared, AHoldMayStandBesideAnother) {
    look(*in_line(wanted(lock_kind::write, 41)), 1);
    EXPECT_EQ(node_.asked.back().words.at(2), client_ + "41");
    look(*in_line(wanted(lock_kind::read, 42)), 1);
    EXPECT_EQ(node_.asked.back().words.at(2), client_ + "42:write");
}

TEST_F(StoreShared, AnUpgradeAsksFourTimesASecond) {
    const auto upgrade = in_line(wanted(lock_kind::write, 41));
    look(*upgrade, 0, 60'000);
    EXPECT_THAT(look(*upgrade, 0, 60'000).term, AllOf(Gt(0ms), Le(250ms)));
    const auto plain = in_line(wanted(lock_kind::write));
    look(*plain, 0, 60'000);
    EXPECT_THAT(look(*plain, 0, 60'000).term, Gt(900ms));
}

TEST_F(StoreShared, ConflictsAndLostHoldsAreFailures) {
    const auto upgrade = in_line(wanted(lock_kind::write, 41));
    node_.will_answer({3, 0, server_time});
    EXPECT_EQ(failure_of(upgrade->look()), errc::would_deadlock);
    node_.will_answer({4, 0, server_time});
    EXPECT_EQ(failure_of(upgrade->look()), errc::lease_lost);
}

// Requests of the store about a lock that is a string, and its polls: other programs send no
// notification when they release the lock.

class StoreToken : public on_scripted_node {
protected:
    static constexpr std::int64_t ours = 1, of_others = 0;

    std::unique_ptr<place> in_line() {
        ask made{lock_name{"L"}, alice_, lock_kind::token};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        return store_.line_up(made, *wake_);
    }
    answer busy(place& spot, std::int64_t left, std::int64_t whose) {
        node_.will_answer({0, left, server_time, whose});
        return complete(spot.look());
    }

    const std::string alice_text_ = to_string(alice_);
};

TEST_F(StoreToken, RequestsNameTheOwnerAndItsChannel) {
    const auto spot = in_line();
    node_.will_answer({1, 0, server_time, 0});
    EXPECT_TRUE(complete(spot->look()).granted);
    EXPECT_EQ(node_.asked.back().script, "lock_token");
    EXPECT_THAT(node_.asked.back().keys, ElementsAre("L"));
    EXPECT_THAT(node_.asked.back().words, ElementsAre("30000", alice_text_));
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release({"L", alice_, lock_kind::token})));
    EXPECT_EQ(node_.asked.back().script, "release_token");
    EXPECT_THAT(node_.asked.back().words,
                ElementsAre(alice_text_, "holdfast_token_lock:{L}", "PUBLISH"));
    EXPECT_TRUE(node_.asked.back().options.reserved) << "there is room for it";
}

TEST_F(StoreToken, BehindOneOfOursItListensAndSleepsAsForAMutex) {
    const auto spot = in_line();
    EXPECT_EQ(busy(*spot, 20'000, ours).term, 0ms);
    EXPECT_EQ(busy(*spot, 20'000, ours).term, context_.poll_bound);
    EXPECT_EQ(node_.listeners.count("holdfast_token_lock:{L}"), 1u);
}

TEST_F(StoreToken, BehindAnotherProgramItAsksFourTimesASecondAndAtTheEndOfItsLease) {
    const auto spot = in_line();
    EXPECT_EQ(busy(*spot, 20'000, of_others).term, 0ms);
    EXPECT_EQ(busy(*spot, 20'000, of_others).term, 250ms);
    EXPECT_EQ(busy(*spot, -1, of_others).term, 250ms) << "a key without a lease";
    EXPECT_EQ(busy(*spot, 100, of_others).term, 102ms);
    EXPECT_EQ(busy(*spot, 20'000, ours).term, context_.poll_bound) << "one of ours was next";
    context_.random = [] { return 50; };
    EXPECT_EQ(busy(*spot, -1, of_others).term, 200ms) << "jittered";
    context_.random = [] { return 0; };
    context_.poll_bound = 100ms;
    EXPECT_EQ(busy(*spot, -1, of_others).term, 100ms) << "who asks more often goes on";
}

TEST_F(StoreToken, AnAnswerOfAnotherShapeIsNotBelieved) {
    for (const std::vector<std::int64_t>& odd :
         {std::vector<std::int64_t>{1, 0, server_time}, {0, 0, server_time, 2}}) {
        node_.will_answer(odd);
        EXPECT_EQ(failure_of(in_line()->look()), make_error_code(store_errc::protocol));
    }
}

TEST_F(StoreToken, ItsHoldsAreRenewedByAScriptOfTheirOwn) {
    const hold one{"L", alice_, lock_kind::token}, two{"M", alice_, lock_kind::plain};
    const hold* const held[] = {&one, &two};
    struct : renewal_sink {
        void renewed(std::size_t which, const answer& got) override {
            all.emplace_back(which, got.granted);
        }
        void failed(std::size_t, const boost::system::system_error&) override { FAIL(); }
        std::vector<std::pair<std::size_t, bool>> all;
    } told;
    node_.decide = [](const scripted_node::request&) {
        return scripted_node::outcome{.answer = scripted_node::array_of({1})};
    };
    const time_point soon = clock_.now() + 700ms;
    complete(store_.renew(held, {.lease_time = 30s, .answer_by = soon, .elsewhere = true}, told));
    EXPECT_THAT(told.all, ::testing::UnorderedElementsAre(std::pair{0, true}, std::pair{1, true}));
    ASSERT_EQ(node_.asked.size(), 2u);
    const bool first = node_.asked[0].script == "renew_tokens";
    EXPECT_EQ(node_.asked[first ? 1 : 0].script, "renew_leases");
    const auto& renewal = node_.asked[first ? 0 : 1];
    EXPECT_EQ(renewal.script, "renew_tokens");
    const std::size_t colon = alice_text_.find(':');
    EXPECT_THAT(renewal.words, ElementsAre("30000", alice_text_.substr(0, colon + 1),
                                           alice_text_.substr(colon + 1)));
    EXPECT_EQ(renewal.options.answer_by, soon);
    EXPECT_TRUE(renewal.options.elsewhere);
    EXPECT_TRUE(renewal.options.reserved);
}

// Returns why `make_store` refuses the changed options, before it sends a request.

std::string objection_to(const std::function<void(redis::options&)>& change) {
    redis::options how;
    change(how);
    try {
        (void)redis::make_store(how);
        return "none";
    } catch (const boost::system::system_error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        return refused.what();
    }
}

void with_sentinels(redis::options& how) {
    how.sentinel.emplace().service = "orders";
    how.sentinel->addresses = {{"s1", 0}, {"s2", 26380}};
}
void with_cluster(redis::options& how) {
    how.cluster.emplace().addresses = {{"c1", 0}, {"c2", 7000}};
}

TEST(RedisOptions, AsTheyComeAreFine) {
    EXPECT_EQ(objection_to([](redis::options&) {}), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.unix_socket = "/run/redis"; }), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.subscription_linger = {}; }), "none");
}

TEST(RedisOptions, EachObjectionNamesItsField) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) { o.host = ""; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.host = {"a\0b", 3}; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.port = 0; }), HasSubstr("port"));
    EXPECT_THAT(objection_to([](options& o) { o.unix_socket = std::string(108, '/'); }),
                HasSubstr("unix_socket"));
    EXPECT_THAT(objection_to([](options& o) { o.connect_timeout = duration{0}; }),
                HasSubstr("connect_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration{-1}; }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration::max(); }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{0}; }),
                HasSubstr("backoff_min is 0 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{5'000}; }),
                HasSubstr("backoff_min is longer than backoff_max"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_max = duration::max(); }),
                HasSubstr("backoff_max is 9223372036854775807 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.subscription_linger = duration{-1}; }),
                HasSubstr("subscription_linger is -1 ms; allowed are 0 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.blocking_connections_max = 1001; }),
                HasSubstr("blocking_connections_max"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::microseconds{-1}; }),
                HasSubstr("polling is -1 us; allowed are 0 us to 10000 us"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::milliseconds{11}; }),
                HasSubstr("polling"));
    EXPECT_THAT(objection_to([](options& o) { o.requests_max = 0; }), HasSubstr("requests_max"));
    EXPECT_THAT(objection_to([](options& o) { o.reply_bytes_max = 0; }),
                HasSubstr("reply_bytes_max"));
}

TEST(RedisOptions, SentinelsAndClustersAreTaken) {
    EXPECT_EQ(objection_to(with_sentinels), "none");
    EXPECT_EQ(objection_to(with_cluster), "none");
    EXPECT_EQ(objection_to([](redis::options& o) {
                  with_cluster(o);
                  o.cluster->addresses.resize(64, {});
                  for (std::size_t i = 0; i < 64; ++i)
                      o.cluster->addresses[i] = {"c" + std::to_string(i), 0};
                  o.pubsub = redis::pubsub_form::both;
                  o.host = ""; // which is not used then
              }),
              "none");
}

TEST(RedisOptions, OneServerOrSentinelsOrACluster) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) {
                    with_sentinels(o);
                    with_cluster(o);
                }),
                HasSubstr("sentinel and cluster cannot be used together"));
    for (const auto& several : {with_sentinels, with_cluster})
        EXPECT_THAT(objection_to([&](options& o) {
                        several(o);
                        o.unix_socket = "/run/redis";
                    }),
                    HasSubstr("unix_socket cannot be used with Sentinels or a cluster"));
}

TEST(RedisOptions, EachObjectionToSeveralServersNamesItsField) {
    using options = redis::options;
    const auto objection_with = [](const auto& several, const auto& change) {
        return objection_to([&](options& o) {
            several(o);
            change(o);
        });
    };
    EXPECT_THAT(objection_with(with_sentinels, [](options& o) { o.sentinel->service = ""; }),
                HasSubstr("sentinel.service is empty"));
    EXPECT_THAT(objection_with(with_sentinels, [](options& o) { o.sentinel->addresses = {}; }),
                HasSubstr("sentinel.addresses has 0 entries; allowed are 1 to 64"));
    EXPECT_THAT(
        objection_with(with_sentinels, [](options& o) { o.sentinel->addresses[1].host = ""; }),
        HasSubstr("sentinel.addresses: a host is empty"));
    EXPECT_THAT(objection_with(with_sentinels,
                               [](options& o) {
                                   o.sentinel->addresses[1].host = {"\0", 1};
                               }),
                HasSubstr("sentinel.addresses: a host contains a NUL byte"));
    EXPECT_THAT(
        objection_with(with_sentinels,
                       [](options& o) {
                           o.sentinel->addresses[1] = {o.sentinel->addresses[0].host, 26379};
                       }),
        HasSubstr("sentinel.addresses contains the same server twice: number 1 and 2"));
    EXPECT_THAT(
        objection_with(with_sentinels,
                       [](options& o) { o.sentinel->tls.emplace().ca_file = "/no/such/file"; }),
        HasSubstr("/no/such/file"));
    EXPECT_THAT(objection_with(with_sentinels,
                               [](options& o) { o.sentinel->tls.emplace().key_file = "/a"; }),
                HasSubstr("sentinel.tls.certificate_file and sentinel.tls.key_file belong"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.cluster->addresses = {}; }),
                HasSubstr("cluster.addresses has 0 entries"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.cluster->addresses.resize(65); }),
                HasSubstr("cluster.addresses has 65 entries; allowed are 1 to 64"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.database = 2; }),
                HasSubstr("database is 2; a cluster has database 0 alone"));
    EXPECT_EQ(objection_with(with_sentinels, [](options& o) { o.database = 2; }), "none");
}

TEST(RedisOptions, OnlyAClusterHasSeveralWaysOfTelling) {
    using enum redis::pubsub_form;
    for (const auto form : {sharded, both}) {
        const auto set = [&](redis::options& o) { o.pubsub = form; };
        EXPECT_THAT(objection_to(set),
                    HasSubstr("; outside of a cluster, automatic and plain are allowed"));
    }
    EXPECT_EQ(objection_to([](redis::options& o) { o.pubsub = plain; }), "none");
    EXPECT_THAT(objection_to([](redis::options& o) {
                    with_cluster(o);
                    o.pubsub = static_cast<redis::pubsub_form>(4);
                }),
                HasSubstr("pubsub must be automatic, plain, sharded or both"));
}

TEST(RedisOptions, ReplicasAreWaitedForAThirdOfTheTimeLimitAtMost) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) { o.replica_timeout = duration{1'001}; }),
                HasSubstr("replica_timeout is 1001 ms; the limit is a third of command_timeout, "
                          "which is 1000 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.replica_timeout = duration{0}; }),
                HasSubstr("replica_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_EQ(objection_to([](options& o) { o.command_timeout = duration{1}; }), "none");
}

TEST(RedisOptions, TimesBetweenQuestionsHaveBounds) {
    using options = redis::options;
    EXPECT_EQ(objection_to([](options& o) { o.address_check = duration{0}; }), "none");
    EXPECT_THAT(objection_to([](options& o) { o.address_check = duration{-1}; }),
                HasSubstr("address_check is -1 ms; allowed are 0 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.address_check = duration::max(); }),
                HasSubstr("address_check"));
    EXPECT_THAT(objection_to([](options& o) { o.topology_check = duration{99}; }),
                HasSubstr("topology_check is 99 ms; allowed are 100 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.topology_check = duration::max(); }),
                HasSubstr("topology_check"));
}

// Requests that change a counter, when more of them fail than a client has request slots for.

class CounterRequests : public support::on_each_server {};
HOLDFAST_ON_EACH_SERVER(CounterRequests);

TEST_P(CounterRequests, FailedChangesLeaveTheirSlotsToTheNextOnes) {
    client home{server().url()};
    counting_semaphore seats{home, "seats"};
    server().command({"RPUSH", "seats", "not a number"});
    for (std::size_t i = 0; i <= redis::request_slots::of_one_name_max; ++i)
        ASSERT_NE(support::code_of([&] { seats.release(); }), errc::overloaded) << i;
    server().command({"SET", "seats", "5"});
    EXPECT_TRUE(seats.try_acquire());
    seats.release();
    EXPECT_EQ(seats.available_permits(), 5);
}

} // namespace
} // namespace holdfast
