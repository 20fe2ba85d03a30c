// SPDX-License-Identifier: Apache-2.0
// Replies that no script of holdfast gives: the client does not accept them, and stops using the
// connection.
#include "store/redis/client_info.hpp"
#include "store/redis/doctor.hpp"
#include "store/redis/inspector.hpp"
#include "store_fixture.hpp"
#include "support/holds.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

namespace holdfast {
namespace {

class StrangeAnswers : public on_scripted_node {
protected:
    redis::reply text(std::string words) const {
        redis::reply made;
        made.type = redis::reply::kind::text;
        made.text = std::move(words);
        return made;
    }
    /// Each request is answered so.
    void answer(const redis::reply& all) {
        node_.decide = [all](const scripted_node::request&) {
            return std::optional{scripted_node::outcome{.answer = all}};
        };
    }
    std::unique_ptr<place> fenced() {
        ask made = want(duration::max());
        made.kind = lock_kind::fenced;
        made.tokens = 5;
        made.numbers = fencing::dated;
        return store_.line_up(std::move(made), *wake_);
    }
    redis::lock_inspector inspector_{node_, context_};
};

TEST_F(StrangeAnswers, ToEachScriptEndTheConnection) {
    const hold mine{"L", alice_, lock_kind::plain};
    const hold* const held[] = {&mine};
    const std::vector<std::string> one{"holdfast_client:x"};
    const std::vector<std::function<error_code()>> calls{
        [&] { return failure_of(store_.line_up(want(duration::max()), *wake_)->look()); },
        [&] { return failure_of(store_.release(mine)); },
        [&] { return failure_of(support::renewed(store_, held, duration{1})); },
        [&] { return failure_of(inspector_.inspect("L")); },
        [&] { return failure_of(inspector_.force_release("L", {})); },
        [&] { return failure_of(inspector_.describe("L")); },
        [&] { return failure_of(inspector_.list("*", 1)); },
        [&] { return failure_of(redis::read_clients(node_, one)); },
        [&] { return failure_of(redis::read_active_clients(node_)); },
        [&] { return failure_of(fenced()->look()); },
        [&] { return failure_of(inspector_.last_token("L")); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        for (const redis::reply& each :
             {text("OK"), scripted_node::array_of({9, 9, 9, 9}), redis::reply{}}) {
            node_.distrusted = 0;
            answer(each);
            EXPECT_EQ(calls[i](), make_error_code(store_errc::protocol)) << i;
            EXPECT_EQ(node_.distrusted, 1) << i;
        }
    }
}

TEST_F(StrangeAnswers, NumbersThatMeanNothingAreStrange) {
    const hold mine{"L", alice_, lock_kind::plain};
    answer(scripted_node::array_of({3, 0, 0}));
    EXPECT_EQ(failure_of(store_.line_up(want(duration::max()), *wake_)->look()),
              make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({2, 0}));
    EXPECT_EQ(failure_of(store_.release(mine)), make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({4, 0}));
    EXPECT_EQ(failure_of(inspector_.force_release("L", {})), make_error_code(store_errc::protocol));
    answer(scripted_node::array_of({2}));
    const hold* const held[] = {&mine};
    EXPECT_EQ(failure_of(support::renewed(store_, held, duration{1})),
              make_error_code(store_errc::protocol));
    EXPECT_EQ(node_.distrusted, 4);
}

TEST_F(StrangeAnswers, TokensThatNobodyCanHaveAreStrange) {
    const std::vector<std::vector<std::int64_t>> strange{
        {1, 0, server_time, 0},  // granted, without a token
        {1, 0, server_time, -1}, // as Redisson says of a lock without an end
        {0, 20'000, server_time, 7},
        {2, 0, server_time, 7},
        {1, 0, server_time}};
    for (const std::vector<std::int64_t>& each : strange) {
        node_.distrusted = 0;
        answer(scripted_node::array_of(each));
        EXPECT_EQ(failure_of(fenced()->look()), make_error_code(store_errc::protocol));
        EXPECT_EQ(node_.distrusted, 1);
    }
    redis::reply negative;
    negative.type = redis::reply::kind::integer;
    negative.integer = -1;
    answer(negative);
    EXPECT_EQ(failure_of(inspector_.last_token("L")), make_error_code(store_errc::protocol));
}

TEST_F(StrangeAnswers, ReleaseOfASpinLockIsNotDeniedAMessage) {
    answer(scripted_node::array_of({1, -1}));
    EXPECT_EQ(failure_of(store_.release({"L", alice_, lock_kind::spin})),
              make_error_code(store_errc::protocol));
}

TEST_F(StrangeAnswers, AnErrorIsNoneOfThem) {
    node_.will_fail(make_error_code(errc::outcome_unknown));
    EXPECT_EQ(failure_of(store_.release({"L", alice_, lock_kind::plain})), errc::outcome_unknown);
    EXPECT_EQ(node_.distrusted, 0);
}

class Fenced : public StrangeAnswers {};

TEST_F(Fenced, IsAskedWithItsTokensAndTheAnswerHasTheFirst) {
    answer(scripted_node::array_of({1, 0, server_time, 41}));
    const auto spot = fenced();
    const holdfast::answer said = complete(spot->look());
    EXPECT_EQ(said.token, 41u);
    EXPECT_EQ(said.tokens, 5u);
    EXPECT_EQ(node_.asked.at(0).script, "lock_fenced");
    EXPECT_THAT(node_.asked[0].keys, ::testing::ElementsAre("L", "redisson_lock_token:{L}"));
    EXPECT_THAT(node_.asked[0].words, ::testing::ElementsAre("30000", to_string(alice_), "5", "1"));
}

TEST_F(Fenced, KeepsItsTokensBesideANameWithATag) {
    redis::reply none;
    none.type = redis::reply::kind::integer;
    answer(none);
    EXPECT_EQ(complete(inspector_.last_token("a{b}c")), 0u);
    EXPECT_THAT(node_.asked.at(0).keys, ::testing::ElementsAre("redisson_lock_token:a{b}c"));
}

class Forced : public StrangeAnswers {};

TEST_F(Forced, NamesWhomItIsTakenFromAndWhoIsToBeTold) {
    answer(scripted_node::array_of({1, server_time}));
    EXPECT_TRUE(complete(inspector_.force_release("L", "bob:1")).was_locked);
    EXPECT_THAT(node_.asked.at(0).words,
                ::testing::ElementsAre("bob:1", "PUBLISH", "redisson_lock__channel:{L}",
                                       "redisson_rwlock:{L}", "redisson_lock_queue:{L}",
                                       "redisson_lock_timeout:{L}", "", "holdfast_token_lock:{L}"));
    EXPECT_EQ(node_.asked[0].deadline, clock_.now() + node_.command_timeout());
}

TEST_F(Forced, OfWhatIsOthersTookNothingAndSaysWhoseItIs) {
    redis::reply said = scripted_node::array_of({3, server_time});
    said.items.push_back(text("alice:7"));
    answer(said);
    const forced outcome = complete(inspector_.force_release("L", "bob:1"));
    EXPECT_FALSE(outcome.was_locked);
    EXPECT_THAT(outcome.owners, ::testing::ElementsAre("alice:7"));
}

TEST_F(Forced, TeachesTheServersClock) {
    answer(scripted_node::array_of({1, server_time}));
    EXPECT_FALSE(node_.server_clock().no_later_than(clock_.now()));
    complete(inspector_.force_release("L", {}));
    EXPECT_TRUE(node_.server_clock().no_later_than(clock_.now()));
}

TEST_F(StrangeAnswers, AForceThatIsLateIsAskedOnceMoreAndThenFails) {
    answer(scripted_node::array_of({2, server_time}));
    EXPECT_EQ(failure_of(inspector_.force_release("L", {})), errc::clock_unstable);
    EXPECT_EQ(node_.asked.size(), 2u);
    EXPECT_EQ(node_.asked[0].script, "force_lock");
    EXPECT_EQ(node_.asked[0].deadline, clock_.now() + node_.command_timeout());
    EXPECT_EQ(node_.distrusted, 0);
}

// Requests of a waiter of the Redis store, their times, and the results.

using ::testing::ElementsAre;

class RedisPlace : public on_scripted_node {
protected:
    void line_up(duration timeout = duration::max()) {
        place_ = store_.line_up(want(timeout), *wake_);
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

    node_.confirms_after = duration{0}; // the subscriber is back
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

// Deadlines, lost answers and clocks that jump: what a place of the Redis store may believe.

class RedisPlaceInDoubt : public on_scripted_node {
protected:
    void line_up(duration timeout = duration::max()) {
        place_ = store_.line_up(want(timeout), *wake_);
    }
    answer look() { return complete(place_->look()); }
    void busy(duration takes = {}) { node_.will_answer({0, 20'000, server_time}, takes); }
    void granted() { node_.will_answer({1, 30'000, server_time}); }
    void late(duration takes = {}) { node_.will_answer({2, 0, server_time}, takes); }
    void lost(duration after = {}) {
        node_.will_fail(make_error_code(errc::outcome_unknown), after);
    }

    std::unique_ptr<place> place_;
};

TEST_F(RedisPlaceInDoubt, TheFirstRequestHasTheWholeTimeLimitAndLaterOnesTheCallers) {
    line_up(duration{1'000});
    busy();
    look();
    EXPECT_EQ(node_.asked[0].deadline, node_.asked[0].at + node_.command_timeout());
    busy();
    look();
    EXPECT_EQ(node_.asked[1].deadline, node_.asked[0].at + duration{1'000});
}

TEST_F(RedisPlaceInDoubt, APatientCallersRequestsHaveTheWholeTimeLimit) {
    line_up();
    busy();
    look();
    busy();
    look();
    EXPECT_EQ(node_.asked[1].deadline, node_.asked[1].at + node_.command_timeout());
    EXPECT_EQ(place_->settled_at(), *node_.asked[1].deadline);
}

TEST_F(RedisPlaceInDoubt, EachAnswerTeachesTheServersClock) {
    line_up();
    EXPECT_FALSE(node_.server_clock().known());
    node_.will_answer({0, 20'000, 0}); // may not tell the time
    look();
    EXPECT_FALSE(node_.server_clock().known());
    busy();
    look();
    EXPECT_TRUE(node_.server_clock().known());
}

TEST_F(RedisPlaceInDoubt, LateMeansTheClockWasMisjudgedAndIsAskedAgainAtOnce) {
    node_.server_clock().learn(clock_.now(), clock_.now(), std::chrono::microseconds{1});
    line_up();
    late();
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_EQ(node_.asked.size(), 2u);
    const auto learnt = node_.server_clock().no_later_than(clock_.now());
    EXPECT_NEAR(learnt->count(), server_time, 2'000);
}

TEST_F(RedisPlaceInDoubt, LateTwiceIsAFailureAndNothingIsHeld) {
    line_up();
    late();
    late();
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
    EXPECT_FALSE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, LateByAnotherConnectionIsThatOnesOwnMistake) {
    line_up();
    late();
    node_.by_another_connection();
    late();
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_EQ(node_.asked.size(), 3u);
}

TEST_F(RedisPlaceInDoubt, LateByOneConnectionAfterAnotherEndsSomewhere) {
    line_up();
    for (int i = 0; i < 3; ++i) {
        node_.by_another_connection();
        late();
    }
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
}

TEST_F(RedisPlaceInDoubt, LateAfterASlowJourneyIsNoMatterOfClocks) {
    line_up();
    late(duration{2'000});
    EXPECT_EQ(failure_of(place_->look()), errc::unreachable);
    EXPECT_EQ(node_.asked.size(), 1u);
}

TEST_F(RedisPlaceInDoubt, LateTellsNothingOfAnEarlierRequest) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    clock_.run_for(duration{4'000}); // it cannot be granted any more, but it may have been
    late();
    late();
    EXPECT_EQ(failure_of(place_->look()), errc::clock_unstable);
    EXPECT_TRUE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, LateForTheCallersOwnLimitIsBusyUntilThen) {
    line_up(duration{1'000});
    busy();
    look();
    late();
    late();
    const answer said = look();
    EXPECT_FALSE(said.granted);
    EXPECT_EQ(clock_.now() + said.term, node_.asked[0].at + duration{1'000});
}

TEST_F(RedisPlaceInDoubt, ALostAnswerMayBeAGrant) {
    line_up();
    EXPECT_FALSE(place_->uncertain());
    EXPECT_EQ(place_->settled_at(), time_point::min());
    lost(duration{100});
    EXPECT_EQ(failure_of(place_->look()), errc::outcome_unknown);
    EXPECT_TRUE(place_->uncertain());
    EXPECT_EQ(place_->settled_at(), *node_.asked[0].deadline);
    node_.will_answer({0, 0});
    complete(place_->leave());
    EXPECT_EQ(node_.asked[1].script, "release_mutex");
    EXPECT_TRUE(place_->uncertain()); // that release may have overtaken it
}

TEST_F(RedisPlaceInDoubt, AnAnswerDoesNotSettleAnEarlierRequestThatMayStillArrive) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    busy();
    look();
    EXPECT_TRUE(place_->uncertain());
    granted();
    EXPECT_TRUE(look().granted);
    EXPECT_TRUE(place_->uncertain());
    EXPECT_GE(place_->settled_at(), *node_.asked[0].deadline);
}

TEST_F(RedisPlaceInDoubt, AnAnswerAfterTheDeadlineOfALostOneSettlesIt) {
    line_up();
    lost(duration{100});
    failure_of(place_->look());
    clock_.run_for(duration{4'000});
    busy();
    look();
    EXPECT_FALSE(place_->uncertain());
}

TEST_F(RedisPlaceInDoubt, WhatWasNeverCarriedOutChangesNothing) {
    line_up();
    for (const error_code why :
         {make_error_code(errc::unreachable), make_error_code(store_errc::out_of_memory),
          make_error_code(store_errc::loading), make_error_code(errc::overloaded),
          make_error_code(errc::closed)}) {
        node_.will_fail(why);
        EXPECT_EQ(failure_of(place_->look()), why);
        EXPECT_FALSE(place_->uncertain()) << why.message();
        EXPECT_EQ(place_->settled_at(), time_point::min());
    }
}

TEST_F(RedisPlaceInDoubt, AnyOtherErrorLeavesItOpen) {
    for (const error_code why :
         {make_error_code(store_errc::script_killed), make_error_code(store_errc::protocol),
          error_code{asio::error::operation_aborted}}) {
        line_up();
        node_.will_fail(why);
        EXPECT_EQ(failure_of(place_->look()), why);
        EXPECT_TRUE(place_->uncertain()) << why.message();
    }
}

TEST_F(RedisPlaceInDoubt, AnAnswerThatNoScriptGivesIsNotBelieved) {
    for (const std::vector<std::int64_t>& odd : std::vector<std::vector<std::int64_t>>{
             {}, {1}, {1, 2}, {3, 0, 0}, {-1, 0, 0}, {1, 2, 3, 4}}) {
        line_up();
        node_.will_answer(odd);
        EXPECT_EQ(failure_of(place_->look()), errc::outcome_unknown);
        EXPECT_TRUE(place_->uncertain());
    }
}

TEST_F(RedisPlaceInDoubt, NothingIsAskedAfterTheCallersLimit) {
    line_up(duration{50});
    busy(duration{100});
    look();
    EXPECT_FALSE(look().granted);
    EXPECT_EQ(node_.asked.size(), 1u);
}

// Renewal in batches, release and the operator's view, on a server that answers what the test says.

class RedisStore : public on_scripted_node {
protected:
    /// The first so many of all that there are.
    hold_list holds(std::size_t count) {
        while (all_.size() < count) {
            const std::uint64_t i = all_.size();
            all_.emplace_back("L" + std::to_string(i), owner_id{{}, i}, lock_kind::plain);
            listed_.push_back(&all_.back());
        }
        return hold_list{listed_}.first(count);
    }
    void will_say(std::size_t count, std::int64_t held, duration takes = {}) {
        node_.will_answer(std::vector<std::int64_t>(count, held), takes);
    }

    /// Each script that names one of these fails; the others say that all is held.
    void refuse_names(std::set<std::string> names, error_code why) {
        node_.decide = [names = std::move(names), why](const scripted_node::request& made) {
            scripted_node::outcome next;
            const auto forbidden = [&](const std::string& each) { return names.contains(each); };
            if (std::ranges::any_of(made.keys, forbidden))
                next.failure = why;
            next.answer = scripted_node::array_of(numbers(made.keys.size(), 1));
            return std::optional{std::move(next)};
        };
    }

private:
    using numbers = std::vector<std::int64_t>;
    std::deque<hold> all_;
    std::vector<const hold*> listed_;
};

TEST_F(RedisStore, RenewingNothingAsksNothing) {
    EXPECT_TRUE(complete(support::renewed(store_, {}, duration{30'000})).empty());
    EXPECT_TRUE(node_.asked.empty());
}

TEST_F(RedisStore, ARenewalNamesEachOwner) {
    node_.will_answer({1, 0});
    const std::vector<answer> said = complete(support::renewed(store_, holds(2), duration{30'000}));
    ASSERT_EQ(said.size(), 2u);
    EXPECT_TRUE(said[0].granted);
    EXPECT_EQ(said[0].term, duration{30'000});
    EXPECT_FALSE(said[1].granted);
    EXPECT_EQ(node_.asked[0].script, "renew_leases");
    EXPECT_THAT(node_.asked[0].keys, ElementsAre("L0", "L1"));
    EXPECT_THAT(node_.asked[0].words,
                ElementsAre("30000", "00000000-0000-0000-0000-000000000000:", "0", "1"));
}

TEST_F(RedisStore, EachScriptIsForOneClient) {
    const hold mine{"L", alice_, lock_kind::plain};
    const hold another{"M", owner_id{{0xff}, 7}, lock_kind::plain};
    const hold* const both[] = {&mine, &another};
    node_.will_answer({0});
    node_.will_answer({1});
    const std::vector<answer> said = complete(support::renewed(store_, both, duration{30'000}));
    EXPECT_FALSE(said.at(0).granted);
    EXPECT_TRUE(said.at(1).granted);
    EXPECT_EQ(node_.asked.at(0).words.at(1) + node_.asked[0].words.at(2), to_string(alice_));
    EXPECT_EQ(node_.asked.at(1).words.at(1) + node_.asked[1].words.at(2), to_string(another.owner));
}

TEST_F(RedisStore, BatchesAreUnderWayTogetherAndAnswerInOrder) {
    will_say(100, 1, duration{50});
    will_say(100, 0, duration{10}); // the second overtakes the first
    will_say(50, 1, duration{30});
    const time_point before = clock_.now();
    const std::vector<answer> said =
        complete(support::renewed(store_, holds(250), duration{30'000}));
    EXPECT_EQ(clock_.now() - before, duration{50});
    EXPECT_EQ(node_.in_flight_max, 3);
    ASSERT_EQ(said.size(), 250u);
    for (std::size_t i = 0; i < said.size(); ++i)
        EXPECT_EQ(said[i].granted, i < 100 || i >= 200) << i;
}

TEST_F(RedisStore, ABatchThatFailsCallsNoHoldLostAndEndsAfterTheOthers) {
    will_say(100, 1, duration{50});
    node_.will_fail(make_error_code(errc::outcome_unknown), duration{10});
    const time_point before = clock_.now();
    EXPECT_EQ(failure_of(support::renewed(store_, holds(200), duration{30'000})),
              errc::outcome_unknown);
    EXPECT_EQ(clock_.now() - before, duration{50});
}

TEST_F(RedisStore, WhatWasAnsweredCountsThoughAnotherBatchWasNot) {
    will_say(100, 1, duration{50});
    node_.will_fail(make_error_code(errc::outcome_unknown), duration{10});
    support::renewal_record said{200};
    complete(store_.renew(holds(200), {.lease_time = duration{30'000}}, said));
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_EQ(said.said[i].has_value(), i < 100) << i;
        EXPECT_EQ(said.failures[i].has_value(), i >= 100) << i;
    }
}

TEST_F(RedisStore, ANameThatIsRefusedTakesNoOtherWithIt) {
    refuse_names({"L7", "L333", "L334"}, make_error_code(store_errc::no_permission));
    support::renewal_record said{500};
    complete(store_.renew(holds(500), {.lease_time = duration{30'000}}, said));
    for (std::size_t i = 0; i < 500; ++i) {
        const bool guilty = i == 7 || i == 333 || i == 334;
        ASSERT_NE(said.failures[i].has_value(), said.said[i].has_value()) << i;
        EXPECT_EQ(said.failures[i].has_value(), guilty) << i;
        if (guilty)
            EXPECT_EQ(said.failures[i]->code(), make_error_code(store_errc::no_permission));
        else
            EXPECT_TRUE(said.said[i]->granted) << i;
    }
    EXPECT_EQ(node_.asked.size(), 5u + 2 * 20);
}

TEST_F(RedisStore, WhateverARefusalIsCalledItMayBeAboutOneName) {
    for (const store_errc why :
         {store_errc::no_permission, store_errc::wrong_type, store_errc::other}) {
        refuse_names({"L1"}, make_error_code(why));
        support::renewal_record said{3};
        complete(store_.renew(holds(3), {.lease_time = duration{30'000}}, said));
        EXPECT_TRUE(said.said[0] && said.failures[1] && said.said[2]) << make_error_code(why);
    }
}

TEST_F(RedisStore, ARefusalIsPursuedWithABoundedNumberOfRequests) {
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i)
        all.insert("L" + std::to_string(i));
    refuse_names(std::move(all), make_error_code(store_errc::other));
    EXPECT_EQ(failure_of(support::renewed(store_, holds(100), duration{30'000})), errc::refused);
    EXPECT_EQ(node_.asked.size(), 1u + 10 + 100);
}

TEST_F(RedisStore, ARefusalOfEverythingIsNotRepeated) {
    for (const store_errc why : {store_errc::out_of_memory, store_errc::not_authenticated}) {
        node_.asked.clear();
        node_.will_fail(make_error_code(why));
        EXPECT_EQ(failure_of(support::renewed(store_, holds(100), duration{30'000})),
                  errc::refused);
        EXPECT_EQ(node_.asked.size(), 1u);
    }
}

TEST_F(RedisStore, RenewalsAndReleasesTellTheirWishes) {
    const time_point soon = clock_.now() + duration{700};
    support::renewal_record said{1};
    will_say(1, 1);
    complete(store_.renew(
        holds(1), {.lease_time = duration{30'000}, .answer_by = soon, .elsewhere = true}, said));
    EXPECT_EQ(node_.asked[0].options.answer_by, soon);
    EXPECT_TRUE(node_.asked[0].options.elsewhere);
    EXPECT_TRUE(node_.asked[0].options.reserved);
    node_.will_answer({1, 0});
    EXPECT_TRUE(complete(store_.release({"L", alice_, lock_kind::plain})));
    EXPECT_TRUE(node_.asked[1].options.reserved);
    node_.will_answer({1, 0, 0});
    EXPECT_TRUE(complete(store_.line_up(want(duration::max()), *wake_)->look()).granted);
    EXPECT_FALSE(node_.asked[2].options.reserved);
}

TEST_F(RedisStore, AnAnswerForAnotherNumberOfHoldsIsNotBelieved) {
    will_say(3, 1);
    EXPECT_EQ(failure_of(support::renewed(store_, holds(2), duration{30'000})),
              errc::outcome_unknown);
}

TEST_F(RedisStore, AReleaseSaysWhetherItWasStillOurs) {
    const hold mine{"L", alice_, lock_kind::plain};
    node_.will_answer({1, 3});
    EXPECT_TRUE(complete(store_.release(mine)));
    node_.will_answer({0, 0});
    EXPECT_FALSE(complete(store_.release(mine)));
    EXPECT_THAT(node_.asked[1].keys, ElementsAre("L"));
}

TEST_F(RedisStore, AReleaseSaysWhetherOthersListen) {
    const hold mine{"L", alice_, lock_kind::plain};
    for (const std::int64_t receivers : {0, 1, 2}) {
        node_.will_answer({1, receivers});
        EXPECT_EQ(complete(store_.release(mine)).others_listen, receivers > 0) << receivers;
    }
}

TEST_F(RedisStore, OffersEveryKind) {
    for (const lock_kind kept :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit})
        EXPECT_TRUE(store_.offers(kept));
    struct : revalidator {
        void revalidate() noexcept override {}
    } nobody;
    EXPECT_EQ(store_.watch_over(hold{"L", alice_, lock_kind::plain}, nobody), nullptr);
}

TEST_F(RedisStore, ObjectionsNameTheFormAndWhatIsAllowed) {
    EXPECT_EQ(store_.objection_to("orders:42"), std::nullopt);
    EXPECT_EQ(store_.objection_to(std::string(64 * 1024, 'x')), std::nullopt);
    EXPECT_EQ(store_.objection_to(""), "the name is empty");
    EXPECT_EQ(store_.objection_to(std::string(10'000'000, 'x')),
              "the name has 10000000 bytes, more than 65536");
    using ::testing::HasSubstr;
    EXPECT_THAT(*store_.objection_to("na}me"), HasSubstr("a '}' without a '{'"));
    EXPECT_THAT(*store_.objection_to("na{me"), HasSubstr("a '{' without a '}' after it"));
    EXPECT_THAT(*store_.objection_to("{}"), HasSubstr("an empty '{}'"));
    EXPECT_THAT(*store_.objection_to("{}"), HasSubstr("'a{b}c'"));
}

TEST_F(RedisStore, TheInspectorRefusesAnswersOfOtherShapes) {
    redis::lock_inspector inspector{node_, context_};
    node_.will_answer({});
    EXPECT_EQ(complete(inspector.inspect("L")), std::nullopt);
    node_.will_answer({1});
    EXPECT_EQ(failure_of(inspector.force_release("L", {})), errc::outcome_unknown);
}

} // namespace
} // namespace holdfast
