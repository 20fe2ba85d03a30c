// SPDX-License-Identifier: Apache-2.0
// A lock on a majority of independent servers: which replies count as votes, how long the hold is
// valid, and how locks on nodes that did not reply are removed.
#include "unit/sync/stage.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using testing::HasSubstr;

class Quorum : public on_stage {
protected:
    std::deque<memory::server> servers;
    std::vector<actor*> nodes;
    std::optional<quorum_mutex> stock;

    Quorum() {
        for (int i = 0; i < 5; ++i) {
            servers.emplace_back(clock);
            nodes.push_back(&enter_at(servers.back(), {}, 1s));
        }
        stock.emplace(all(), "stock");
    }
    quorum_mutex::nodes all() {
        quorum_mutex::nodes clients;
        for (actor* each : nodes)
            clients.push_back(each->program.value());
        return clients;
    }
    std::size_t held_at() const {
        std::size_t count = 0;
        for (const memory::server& each : servers)
            count += held_count(each);
        return count;
    }
    /// Returns why the last call got no majority, as the observer heard it.
    std::string reason() const {
        std::string last;
        for (const support::told& each : nodes[0]->ear->of(event_kind::waited))
            if (each.text.starts_with("no majority"))
                last = each.text;
        return last;
    }
    void cut_off(int node) { nodes[node]->always.refused = true; }
    void reach_again(int node) { nodes[node]->always = {}; }
};

TEST_F(Quorum, TakesAllNodesAndReleasesThem) {
    lease held = taken(*stock);
    settle();
    EXPECT_EQ(held_at(), 5u);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u);
    EXPECT_EQ(quorum_mutex::votes(held).majority, 3u);
    EXPECT_GT(held.remaining(), 29s);
    said<> left;
    held.async_unlock(left.handler());
    settle();
    EXPECT_TRUE(left.well());
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, AMinorityOfDeadNodesCostsNothing) {
    cut_off(1);
    cut_off(3);
    const lease held = taken(*stock);
    EXPECT_EQ(elapsed(), 0ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
}

TEST_F(Quorum, WithoutAMajorityItIsUnreachableAndNamesTheNodes) {
    cut_off(1);
    cut_off(3);
    cut_off(4);
    said<std::optional<lease>> tried;
    stock->async_try_lock(tried.handler());
    run_for(1s);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, FailureNamesOnlyTheNodesThatAreAway) {
    nodes[0]->always.answer_delay = 10ms; // the round ends before this node has replied
    for (const int node : {1, 3, 4})
        cut_off(node);
    said<std::optional<lease>> tried;
    stock->async_try_lock(tried.handler());
    run_for(1s);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    const std::string why = reason();
    for (const char* const away : {"node 2: ", "node 4: ", "node 5: "})
        EXPECT_THAT(why, HasSubstr(away));
    for (const char* const healthy : {"node 1: ", "node 3: "})
        EXPECT_THAT(why, testing::Not(HasSubstr(healthy)));
}

TEST_F(Quorum, FailureKeepsTheReasonOfANodeThatIsSilentLater) {
    for (const int node : {1, 3, 4})
        cut_off(node);
    said<std::optional<lease>> tried;
    stock->async_try_lock_for(5s, tried.handler());
    run_for(1s);
    for (const int node : {1, 3, 4})
        nodes[node]->always = {.request_lost = true};
    run_for(10s);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    EXPECT_THAT(reason(), testing::Not(HasSubstr("no answer within")));
    EXPECT_THAT(reason(), testing::Not(HasSubstr("an earlier question")));
}

TEST_F(Quorum, TryLockReportsUnreachableWhileEarlierQuestionsAreUnanswered) {
    for (const int node : {1, 3, 4})
        nodes[node]->always.request_lost = true;
    for (int attempt = 0; attempt < 50; ++attempt) {
        said<std::optional<lease>> tried;
        stock->async_try_lock(tried.handler());
        run_for(700ms);
        EXPECT_TRUE(tried.failed(errc::unreachable)) << "attempt " << attempt;
    }
}

TEST_F(Quorum, TimedAttemptReportsUnreachableIfItsLastLookIsNotAnswered) {
    for (const int node : {1, 3, 4})
        nodes[node]->always.request_lost = true;
    for (const duration timeout :
         {duration{20}, duration{300}, duration{1s}, duration{3s}, duration{8s}, duration{12s}}) {
        said<std::optional<lease>> tried;
        stock->async_try_lock_for(timeout, tried.handler());
        run_for(15s);
        EXPECT_TRUE(tried.failed(errc::unreachable)) << timeout.count() << " ms";
    }
}

TEST_F(Quorum, TimedAttemptEndsInTimeIfTheNodesDoNotReply) {
    for (const int node : {1, 3, 4})
        nodes[node]->always.request_lost = true;
    quorum_mutex slow{all(), "stock", {.node_timeout = 800ms}};
    for (const duration timeout : {duration{850ms}, duration{1s}, duration{3s}}) {
        const time_point began = clock.now();
        said<std::optional<lease>> tried;
        slow.async_try_lock_for(timeout, tried.handler());
        while (!tried.done())
            run_for(1ms);
        EXPECT_TRUE(tried.failed(errc::unreachable)) << timeout.count() << " ms";
        EXPECT_LE(clock.now() - began, timeout + 1ms);
        run_for(10s);
    }
}

TEST_F(Quorum, TryBehindACallReportsUnreachableWhileNoMajorityReplies) {
    for (const int node : {1, 3, 4})
        cut_off(node);
    said<lease> front;
    stock->async_lock(front.handler());
    run_for(1s);
    said<std::optional<lease>> timed, tried, later;
    stock->async_try_lock_for(500ms, timed.handler());
    stock->async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.failed(errc::unreachable));
    run_for(510ms);
    EXPECT_TRUE(timed.failed(errc::unreachable));
    for (const int node : {1, 3, 4}) {
        servers[node].occupy("stock", 1h);
        reach_again(node);
    }
    run_for(2s);
    stock->async_try_lock(later.handler());
    settle();
    ASSERT_TRUE(later.well());
    EXPECT_FALSE(later.value()) << "the nodes have replied that the lock is busy";
}

TEST_F(Quorum, ASilentMajorityIsUnreachableAtLast) {
    for (const int node : {1, 3, 4})
        nodes[node]->always.request_lost = true;
    said<std::optional<lease>> tried;
    stock->async_try_lock(tried.handler());
    run_for(200ms);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    said<lease> patient; // its questions wait behind those, which are still open
    stock->async_lock(patient.handler());
    run_for(30s);
    EXPECT_TRUE(patient.failed(errc::unreachable));
    run_for(10s);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, ANodeThatIsSlowIsNotWaitedForAndJoinsLater) {
    nodes[4]->always.answer_delay = 400ms;
    const lease held = taken(*stock);
    EXPECT_EQ(elapsed(), 0ms);
    EXPECT_EQ(quorum_mutex::votes(held).held, 4u);
    run_for(1s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u);
}

TEST_F(Quorum, AnAnswerThatComesTooLateIsReleased) {
    nodes[4]->always.answer_delay = 400ms;
    { const lease held = taken(*stock); }
    run_for(2s);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, WhoeverHasAMajorityExcludesOthers) {
    for (int i = 0; i < 3; ++i)
        servers[i].occupy("stock", 20s);
    said<std::optional<lease>> tried;
    stock->async_try_lock(tried.handler());
    run_for(1s);
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.take());
    EXPECT_EQ(held_at(), 3u);
}

// A fault that a simulation found: the request queued behind others, so its node was treated as one
// that does not reply.
TEST_F(Quorum, WhereOthersOfItsClientsWaitForANodeAloneItIsBusyAndNotUnreachable) {
    for (memory::server& each : servers)
        each.occupy("stock", 1h);
    std::deque<mutex> alone;
    std::deque<said<lease>> waiting;
    for (actor* const each : nodes) {
        alone.emplace_back(each->program.value(), "stock");
        alone.back().async_lock(waiting.emplace_back().handler());
    }
    settle();
    said<lease> patient;
    stock->async_lock(patient.handler());
    run_for(1min); // far longer than it may find nobody
    EXPECT_FALSE(patient.done());
    for (memory::server& each : servers)
        each.vacate("stock");
    run_for(1s);
    for (said<lease>& each : waiting) {
        ASSERT_TRUE(each.well());
        lease held = each.take();
        held.async_unlock([](error_code) {});
    }
    run_for(10s);
    EXPECT_TRUE(patient.well());
}

TEST_F(Quorum, AMinorityOfOthersDoesNot) {
    for (int i = 0; i < 2; ++i)
        servers[i].occupy("stock", 1h);
    EXPECT_TRUE(taken(*stock).owns_lock());
}

TEST_F(Quorum, AWaiterIsWokenByTheRelease) {
    for (memory::server& each : servers)
        each.occupy("stock", 1h);
    said<lease> held;
    stock->async_lock(held.handler());
    run_for(20s);
    EXPECT_FALSE(held.done());
    for (memory::server& each : servers)
        each.vacate("stock");
    run_for(50ms);
    EXPECT_TRUE(held.well());
}

TEST_F(Quorum, TheLossOfAMinorityIsMended) {
    const lease held = taken(*stock);
    settle();
    servers[0].evict("stock");
    servers[1].evict("stock");
    run_for(10100ms); // a renewal notices
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_GE(quorum_mutex::votes(held).held, 3u);
    run_for(10100ms);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u);
    EXPECT_EQ(held_at(), 5u);
}

TEST_F(Quorum, TheLossOfAMajorityIsTheLossOfTheLock) {
    const lease held = taken(*stock);
    settle();
    for (int i = 0; i < 3; ++i)
        servers[i].evict("stock");
    run_for(11s);
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, ItsLossHasTheCauseOfTheVoteThatDecided) {
    const lease held = taken(*stock);
    settle();
    servers[0].evict("stock");
    servers[0].occupy("stock", 1h);
    cut_off(1);
    cut_off(2);
    run_for(31s);
    EXPECT_FALSE(held.owns_lock());
    const std::vector<support::told> losses = nodes[0]->ear->of(event_kind::lost);
    ASSERT_EQ(losses.size(), 2u);
    EXPECT_EQ(losses[0].cause, event_cause::refused) << "the first vote";
    EXPECT_EQ(losses[1].owner_number, 0u) << "the whole";
    EXPECT_EQ(losses[1].cause, event_cause::term_ended);
}

/// Node 4 has no vote, so the upkeep runs already when the lock is taken away. Node 0 is renewed
/// before the upkeep, and the other nodes are renewed after it.
TEST_F(Quorum, HolderTakesNoVoteAgainAfterAllVotesWereTakenAway) {
    nodes[0]->dice = 1000; // renewed after 9, 18 and 27 s
    nodes[4]->dice = 500;  // lost after 9.5 s, so the upkeep runs after 19.5 and 29.5 s
    const lease held = taken(*stock);
    settle();
    servers[4].evict("stock");
    servers[4].occupy("stock", 1h);
    run_for(25s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 4u);
    for (int i = 0; i < 4; ++i)
        servers[i].evict("stock");
    run_for(4900ms);
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u) << "the loss of vote 0 was noticed";
    EXPECT_EQ(held_count(servers[0]), 0u);
    EXPECT_FALSE(held.lost().stop_requested());
    run_for(1s);
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(held_at(), 1u) << "the foreign lock on node 4";
}

TEST_F(Quorum, ALaterLossDoesNotPostponeTheRequestForALostVote) {
    nodes[0]->dice = nodes[1]->dice = 1000; // renewed after 9 and 18 s
    const lease held = taken(*stock);
    settle();
    servers[0].evict("stock");
    run_for(10s);
    servers[1].evict("stock");
    run_for(8500ms);
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    run_for(1s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u) << "asked ten seconds after the first loss";
}

TEST_F(Quorum, ADeadNodeIsAskedAgainWhileItIsHeld) {
    cut_off(2);
    const lease held = taken(*stock);
    EXPECT_EQ(quorum_mutex::votes(held).held, 4u);
    run_for(30s);
    reach_again(2);
    run_for(11s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u);
}

TEST_F(Quorum, UnlockDoesNotWaitForADeadNode) {
    lease held = taken(*stock);
    settle();
    cut_off(0);
    said<> left;
    held.async_unlock(left.handler());
    settle();
    EXPECT_TRUE(left.well());
}

TEST_F(Quorum, TheValidityIsThatOfTheMajority) {
    const lease held = taken(*stock, lease_time{10s});
    run_for(4s);
    EXPECT_LE(held.remaining(), 6s);
    EXPECT_GT(held.remaining(), 5500ms);
    run_for(6s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(Quorum, TwoThatComeTogetherAreServedOneAfterTheOther) {
    std::vector<actor*> of_bob;
    for (memory::server& each : servers)
        of_bob.push_back(&enter_at(each, {}, 1s));
    nodes.swap(of_bob);
    quorum_mutex other{all(), "stock"};
    nodes.swap(of_bob);
    for (actor* each : of_bob)
        each->dice = 1000;
    said<lease> one, two;
    stock->async_lock(one.handler());
    other.async_lock(two.handler());
    run_for(5s);
    ASSERT_NE(one.done(), two.done());
    said<lease>& first = one.done() ? one : two;
    said<lease>& second = one.done() ? two : one;
    { const lease over = first.take(); }
    run_for(5s);
    ASSERT_TRUE(second.well());
    EXPECT_TRUE(second.take().owns_lock());
}

TEST_F(Quorum, CallsOfOneClientQueueHereAndNotAtTheNodes) {
    const lease held = taken(*stock);
    said<lease> second, third;
    stock->async_lock(second.handler());
    run_for(100ms);
    const std::size_t asked = nodes[0]->count(verb::look);
    stock->async_lock(third.handler());
    run_for(100ms);
    EXPECT_EQ(nodes[0]->count(verb::look), asked);
}

TEST_F(Quorum, RefusesWhatCannotBe) {
    auto twice = all();
    twice.push_back(twice.front());
    const auto refuses = [](const char* words) {
        return testing::ThrowsMessage<boost::system::system_error>(HasSubstr(words));
    };
    const auto with = [](quorum_mutex::nodes of, quorum_options how) {
        return [of, how] { const quorum_mutex made{of, "stock", how}; };
    };
    EXPECT_THAT(with(twice, {}), refuses("the same client"));
    EXPECT_THAT(with({}, {}), refuses("0 nodes"));
    const quorum_options fair{.kind = lock_kind::fair}, slow{.node_timeout = 8s},
        shorter{.longest_lease = lease_time{1s}};
    EXPECT_THAT(with(all(), fair), refuses("must be plain or token"));
    EXPECT_THAT(with(all(), slow), refuses("node_timeout"));
    EXPECT_THAT(with(all(), shorter), refuses("longest_lease"));
}

TEST_F(Quorum, ARestartedNodeHasNoVoteForTheLongestLease) {
    servers[0].restart_empty();
    servers[1].restart_empty();
    const lease held = taken(*stock);
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    EXPECT_EQ(held_at(), 5u) << "it has the lock there all the same";
    run_for(31s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 5u);
}

TEST_F(Quorum, TooManyRestartedNodesAreNoMajorityAndItSaysWhy) {
    std::string words;
    for (int i = 0; i < 3; ++i)
        servers[i].restart_empty();
    said<std::optional<lease>> tried;
    stock->async_try_lock(tried.handler());
    run_for(1s);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    EXPECT_EQ(held_at(), 0u);
    said<lease> patient;
    stock->async_lock(patient.handler());
    run_for(28s);
    EXPECT_FALSE(patient.done());
    run_for(4s);
    EXPECT_TRUE(patient.well()) << "a sit-out has an end";
}

TEST_F(Quorum, NodesThatRememberVoteAtOnce) {
    for (memory::server& each : servers)
        each.restart_empty();
    quorum_mutex trusting{all(), "stock", {.nodes_remember = true}};
    EXPECT_TRUE(taken(trusting).owns_lock());
}

TEST_F(Quorum, AnAbandonedHoldGetsNoVoteAnyMore) {
    nodes[4]->always.answer_delay = 400ms;
    const lease held = taken(*stock);
    held.hold()->thread_ended();
    held.hold()->abandon();
    run_for(1s);
    EXPECT_EQ(held_count(servers[4]), 0u) << "it came late";
    run_for(31s);
    EXPECT_EQ(held_at(), 0u);
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(Quorum, TwoNodesThatAreOneServerAreRefused) {
    actor& again = enter_at(servers[0], {}, 1s);
    quorum_mutex::nodes doubled = all();
    doubled[1] = *again.program;
    quorum_mutex odd{doubled, "stock"};
    said<lease> held;
    odd.async_lock(held.handler());
    run_for(1s);
    EXPECT_TRUE(held.failed(errc::invalid_argument));
    run_for(10s);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, ClosingItsFirstClientLosesItAndTheOthersEndWithTheirLeases) {
    const lease held = taken(*stock);
    settle();
    const said<> closed = close(*nodes[0]);
    run_for(10s);
    EXPECT_TRUE(closed.done());
    EXPECT_TRUE(held.lost().stop_requested());
    run_for(31s);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(Quorum, IsInDangerWhenAMajorityIsAndNotBefore) {
    const lease held = taken(*stock);
    settle();
    cut_off(0);
    cut_off(1);
    run_for(25s);
    EXPECT_FALSE(held.in_danger().stop_requested());
    cut_off(2);
    run_for(18s);
    EXPECT_TRUE(held.in_danger().stop_requested());
    EXPECT_TRUE(held.owns_lock());
    for (int i = 0; i < 3; ++i)
        reach_again(i);
    run_for(12s);
    EXPECT_TRUE(held.owns_lock());
    const std::stop_token next = held.in_danger();
    EXPECT_FALSE(next.stop_requested());
    for (int i = 0; i < 3; ++i)
        cut_off(i);
    run_for(27s);
    EXPECT_TRUE(next.stop_requested()) << "the second danger is told, too";
}

TEST_F(Quorum, QuestionsNeedAMajority) {
    for (int i = 0; i < 3; ++i)
        servers[i].occupy("stock", 1h);
    said<bool> locked;
    stock->async_is_locked(locked.handler());
    settle();
    EXPECT_TRUE(locked.take());
    servers[0].vacate("stock");
    said<bool> now;
    stock->async_is_locked(now.handler());
    settle();
    EXPECT_FALSE(now.take());
    cut_off(0);
    said<bool> unknown;
    stock->async_is_locked(unknown.handler());
    run_for(10s);
    EXPECT_TRUE(unknown.failed(errc::unreachable));
}

// A majority of servers that are not of one kind: some keep holds by session, some by their leases.

/// Two of the first kind, and one of the other.
class QuorumOfTwoKinds : public on_stage {
protected:
    std::deque<memory::server> servers;
    std::vector<actor*> nodes;
    std::optional<quorum_mutex> stock;

    QuorumOfTwoKinds() {
        for (int i = 0; i < 3; ++i) {
            servers.emplace_back(clock);
            if (i < 2)
                servers.back().keep_by_session(10s);
            nodes.push_back(&enter_at(servers.back(), {}, 1s));
        }
        quorum_mutex::nodes clients;
        for (actor* each : nodes)
            clients.push_back(each->program.value());
        stock.emplace(clients, "stock");
    }
    std::size_t held_at() const {
        std::size_t count = 0;
        for (const memory::server& each : servers)
            count += held_count(each);
        return count;
    }
    std::size_t warnings() const {
        std::size_t count = 0;
        for (const actor* each : nodes)
            count += each->ear->of(event_kind::in_danger).size();
        return count;
    }
};

TEST_F(QuorumOfTwoKinds, IsKeptByEachAsItNeedsItAndReleasedEverywhere) {
    lease held = taken(*stock);
    EXPECT_LE(held.remaining(), 10s);
    run_for(1h);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    EXPECT_EQ(warnings(), 0u);
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(QuorumOfTwoKinds, AFixedLeaseEndsAtAllOfThem) {
    const lease held = taken(*stock, lease_time{25s});
    run_for(25s - 252ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    run_for(252ms);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(QuorumOfTwoKinds, AVoteThatASessionTookAlongIsAskedForAgain) {
    const lease held = taken(*stock);
    nodes[0]->always.refused = true;
    run_for(15s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(quorum_mutex::votes(held).held, 2u);
    nodes[0]->always = {};
    run_for(15s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    EXPECT_EQ(held_at(), 3u);
}

TEST_F(QuorumOfTwoKinds, WithoutAMajorityItEndsWithTheSessionAlthoughItsLeaseIsLonger) {
    const lease held = taken(*stock);
    for (actor* each : nodes)
        each->always.refused = true;
    run_for(10s - 102ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(held.in_danger().stop_requested());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
}

// A server that grants its part and is then stopped, and nodes that do not reply: the caller does
// not wait for them.

class StalledMember : public on_stage {
protected:
    memory::server second{clock}, third{clock};
    actor& one = enter_at(server);
    actor& two = enter_at(second);
    actor& three = enter_at(third);
    quorum_mutex quorum{{*one.program, *two.program, *three.program}, "stock"};
    mutex first{one, "first"}, other{two, "stock"};
    multi_mutex multi{first, other};

    StalledMember() {
        second.occupy("stock", 1h);
        third.occupy("stock", 1h);
        one.planned.emplace_back(verb::release, fate{.request_lost = true});
    }

    duration tried(basic_mutex& lock, duration timeout) {
        const time_point began = clock.now();
        said<std::optional<lease>> outcome;
        lock.async_try_lock_for(timeout, outcome.handler());
        while (!outcome.done())
            run_for(1ms);
        EXPECT_TRUE(outcome.well());
        EXPECT_FALSE(outcome.value());
        return clock.now() - began;
    }
};

TEST_F(StalledMember, QuorumKeepsItsTimeout) {
    EXPECT_LE(tried(quorum, 200ms), 310ms);
}

TEST_F(StalledMember, QuorumWithoutTimeoutIsBusySoon) {
    EXPECT_LE(tried(quorum, 0ms), 110ms);
}

TEST_F(StalledMember, MultiKeepsItsTimeout) {
    EXPECT_LE(tried(multi, 200ms), 310ms);
}

TEST_F(StalledMember, MultiWithoutTimeoutIsBusySoon) {
    EXPECT_LE(tried(multi, 0ms), 110ms);
}

TEST_F(StalledMember, QuestionsToAQuorumDoNotWaitForOneNode) {
    three.always.request_lost = true;
    (void)second.vacate("stock");
    said<bool> locked, forced;
    quorum.async_is_locked(locked.handler());
    run_for(150ms);
    ASSERT_TRUE(locked.well());
    EXPECT_FALSE(locked.value()) << "one node of three at most has it";
    server.occupy("stock", 1h);
    second.occupy("stock", 1h);
    said<bool> again;
    quorum.async_is_locked(again.handler());
    run_for(150ms);
    ASSERT_TRUE(again.well());
    EXPECT_TRUE(again.value());
    quorum.async_force_unlock(forced.handler());
    run_for(150ms);
    ASSERT_TRUE(forced.well());
    EXPECT_TRUE(forced.value());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(StalledMember, QuestionsToAQuorumWaitWhereTheLastAnswerDecides) {
    three.always.answer_delay = 500ms;
    server.occupy("stock", 1h);
    (void)second.vacate("stock");
    said<bool> locked;
    quorum.async_is_locked(locked.handler());
    run_for(499ms);
    EXPECT_FALSE(locked.done());
    run_for(1ms);
    ASSERT_TRUE(locked.well());
    EXPECT_TRUE(locked.value());
}

/// A handler blocks the executor of all members. The state of the hold is still correct, because it
/// is computed from the clock.
TEST_F(StalledMember, TokensOfAJointHoldAskTheClock) {
    (void)second.vacate("stock");
    (void)third.vacate("stock");
    for (basic_mutex* const each :
         {static_cast<basic_mutex*>(&quorum), static_cast<basic_mutex*>(&multi)}) {
        const lease held = taken(*each, lease_time{3s});
        const std::stop_token before = held.lost();
        EXPECT_FALSE(before.stop_requested());
        EXPECT_FALSE(held.in_danger().stop_requested());
        clock.block_for(3s);
        EXPECT_FALSE(held.owns_lock());
        EXPECT_TRUE(held.lost().stop_requested());
        EXPECT_TRUE(held.in_danger().stop_requested());
        EXPECT_FALSE(before.stop_requested()) << "it is told by the executor";
        settle();
        EXPECT_TRUE(before.stop_requested());
        run_for(10s);
    }
}

TEST_F(StalledMember, TokensOfPermitsAskTheClock) {
    leased_semaphore slots{two, "slots"};
    said<bool> set;
    slots.async_try_set_permits(2, set.handler());
    settle();
    said<lease> got;
    slots.async_acquire(2, got.handler());
    settle();
    ASSERT_TRUE(got.well());
    clock.block_for(31s);
    EXPECT_TRUE(got.value().lost().stop_requested());
    EXPECT_TRUE(got.value().in_danger().stop_requested());
}

} // namespace
} // namespace holdfast::sync
