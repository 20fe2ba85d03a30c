// SPDX-License-Identifier: Apache-2.0
#include "pool_on_model.hpp"

#include <algorithm>

namespace holdfast::mysql {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MysqlPool : public PoolOnModel {};

TEST_F(MysqlPool, ConnectsWhenItIsAskedForTheFirstTime) {
    pool();
    pass(1h);
    EXPECT_THAT(world_.tried, IsEmpty());
    const asked call = ask();
    EXPECT_TRUE(call->done);
    EXPECT_EQ(call->code, error_code{}) << call->why;
    EXPECT_EQ(call->got.server, "a");
    EXPECT_THAT(world_.tried, ElementsAre("a"));
    EXPECT_THAT(doubts_, IsEmpty()) << "nobody can hold anything yet";
}

TEST_F(MysqlPool, ServesWhoWaitsInTheirOrder) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    const asked first = ask("1"), second = ask("2"), third = ask("3");
    ASSERT_EQ(world_.lines.size(), 1u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(line().asked.size(), i + 1u);
        line().answer();
        settle();
    }
    EXPECT_THAT(line().asked, ElementsAre(ElementsAre("1"), ElementsAre("2"), ElementsAre("3")));
    EXPECT_TRUE(first->done && second->done && third->done);
}

TEST_F(MysqlPool, MakesNoMoreConnectionsThanItMayAndNoneWithoutNeed) {
    how_.connections_max = 2;
    ask();
    ask();
    EXPECT_EQ(world_.lines.size(), 1u) << "one is enough for one after the other";
    line().answers_at_once = world_.answers_at_once = false;
    const asked a = ask(), b = ask(), c = ask();
    EXPECT_EQ(world_.lines.size(), 2u);
    line(0).answer();
    line(1).answer();
    settle();
    line(0).answer();
    settle();
    EXPECT_TRUE(a->done && b->done && c->done);
}

TEST_F(MysqlPool, ARequestThatWasNotSentInTimeIsUnreachable) {
    how_.connections_max = 1;
    how_.command_timeout = 3s;
    world_.answers_at_once = false;
    call_options options;
    const asked first = ask("1");
    options.answer_by = clock_.now() + 1s;
    const asked second = ask("2", options);
    pass(1s);
    EXPECT_TRUE(second->done);
    EXPECT_EQ(second->code, errc::unreachable) << second->why;
    EXPECT_THAT(second->why, HasSubstr("busy"));
    EXPECT_FALSE(first->done);
}

TEST_F(MysqlPool, ARequestThatIsNotAnsweredInTimeIsUnknownAndItsConnectionIsCut) {
    how_.command_timeout = 3s;
    world_.answers_at_once = false;
    const asked call = ask();
    pass(2999ms);
    EXPECT_FALSE(call->done);
    pass(1ms);
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->why;
    EXPECT_TRUE(line().is_cut());
}

TEST_F(MysqlPool, NobodyIsAskedWhenTheTimeWasOverBefore) {
    ask();
    call_options options;
    options.answer_by = clock_.now();
    EXPECT_EQ(ask("late", options)->code, errc::unreachable);
    EXPECT_EQ(line().asked.size(), 1u);
}

TEST_F(MysqlPool, BeyondItsBoundOnlyReservedRequestsAreTaken) {
    how_.requests_max = 2;
    how_.connections_max = 1;
    world_.answers_at_once = false;
    ask();
    ask();
    EXPECT_EQ(ask()->code, errc::overloaded);
    call_options options;
    options.reserved = true;
    EXPECT_FALSE(ask("renewal", options)->done) << "it waits";
}

TEST_F(MysqlPool, EachServerIsTriedBeforeAnybodyIsToldAndBeforeAnyPause) {
    how_.servers = {{"a", 0}, {"b", 0}, {"c", 0}};
    world_.refuses = net::failure{errc::unreachable, "refused there"};
    const time_point began = clock_.now();
    const asked call = ask();
    EXPECT_THAT(world_.tried, ElementsAre("a", "b", "c"));
    EXPECT_EQ(clock_.now(), began);
    EXPECT_EQ(call->code, errc::unreachable) << call->why;
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
}

TEST_F(MysqlPool, AServerThatMayComeBackCountsMoreThanOneThatRefuses) {
    how_.servers = {{"a", 0}, {"b", 0}};
    world_.refuses = net::failure{store_errc::not_authenticated, "who are you"};
    const asked refused = ask();
    EXPECT_EQ(refused->code, errc::refused) << refused->why;
}

TEST_F(MysqlPool, PausesBetweenAttemptsGrowAndHaveABound) {
    how_.backoff_min = 50ms;
    how_.backoff_max = 2s;
    world_.refuses = net::failure{errc::unreachable, "refused"};
    for (int i = 0; i < 400; ++i) {
        ask();
        pass(100ms);
    }
    ASSERT_GT(world_.tried_at.size(), 10u);
    EXPECT_LT(world_.tried_at.size(), 100u);
    duration longest{};
    for (std::size_t i = 1; i < world_.tried_at.size(); ++i)
        longest = std::max(longest, world_.tried_at[i] - world_.tried_at[i - 1]);
    EXPECT_GT(longest, 500ms);
    EXPECT_LE(longest, 2100ms);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u) << "once in an outage";
}

TEST_F(MysqlPool, AServerThatGivesNoMoreConnectionsIsNotLeft) {
    how_.servers = {{"a", 0}, {"b", 0}};
    how_.connections_max = 2;
    world_.answers_at_once = false;
    const asked first = ask();
    world_.refuses = net::failure{store_errc::too_many_clients, "too many connections"};
    const asked second = ask();
    pass(500ms);
    EXPECT_FALSE(second->done) << "it waits for the one there is";
    EXPECT_THAT(world_.tried, ::testing::Each("a"));
    line().answer();
    settle();
    line().answer();
    settle();
    EXPECT_TRUE(first->done && second->done);
    EXPECT_EQ(second->code, error_code{}) << second->why;
}

TEST_F(MysqlPool, AnIdleConnectionIsUsedOnceInItsTime) {
    how_.keep_alive = 30s;
    ask();
    pass(29s);
    EXPECT_EQ(line().asked.size(), 1u);
    pass(1s);
    ASSERT_EQ(line().asked.size(), 2u);
    EXPECT_THAT(line().asked[1], ::testing::Contains(HasSubstr("SYSDATE")));
    EXPECT_TRUE(line().clock()->known()) << "its clock is learnt with that";
    pass(60s);
    EXPECT_EQ(line().asked.size(), 4u);
}

TEST_F(MysqlPool, AnIdleConnectionThatDoesNotAnswerIsReplaced) {
    how_.keep_alive = 30s;
    ask();
    line().answers_at_once = false;
    pass(33s);
    EXPECT_TRUE(line().is_cut());
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    pass(1s);
    EXPECT_EQ(ask()->code, error_code{});
}

TEST_F(MysqlPool, ALostServerIsLookedForOnlyWhileSomethingIsHeld) {
    ask();
    line().hang_up();
    pass(1h);
    EXPECT_EQ(world_.lines.size(), 1u);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    ask();
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
    holds_ = true;
    line(1).hang_up();
    pass(1s);
    EXPECT_EQ(world_.lines.size(), 3u);
    EXPECT_THAT(doubts_, ElementsAre(false, false));
}

TEST_F(MysqlPool, AnotherServerPutsAllHoldsInDoubtAtOnce) {
    ask();
    line().hang_up();
    world_.server = "s2";
    pass(1s);
    ask();
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(MysqlPool, SeveralWritersOfOneClusterAreNotTakenForAnother) {
    world_.several_writers = true;
    how_.connections_max = 2;
    world_.answers_at_once = false;
    const asked first = ask();
    world_.server = "s2";
    ask();
    EXPECT_EQ(world_.lines.size(), 2u);
    EXPECT_FALSE(line(0).is_cut());
    EXPECT_FALSE(first->done);
    EXPECT_FALSE(pool().has_bells()) << "each has its own";
}

TEST_F(MysqlPool, ADeadlockIsRepeatedThreeTimes) {
    const auto deadlock = [] {
        statement_answer one;
        one.what.error = 1213;
        return std::vector{one};
    };
    struct deadlocks final : statements {
        std::vector<std::string> compose(const runtime::remote_clock&,
                                         const server_facts&) override {
            ++composed;
            at->next = what;
            return {"UPDATE"};
        }
        std::vector<statement_answer> what;
        model_line* at = nullptr;
        int composed = 0;
    };
    ask();
    deadlocks always;
    always.what = deadlock();
    always.at = &line();
    error_code code;
    const auto run = [&]() -> asio::awaitable<void> {
        const std::string undo = "DO RELEASE_LOCK('b')";
        const call_options options{.undo = &undo};
        co_await pool().run(always, options);
    };
    asio::co_spawn(io_, run(), [&](const std::exception_ptr& failed) {
        code = support::thrown_of(failed).code;
    });
    settle();
    EXPECT_EQ(always.composed, 1) << "not at once: they would meet again";
    pass(1s);
    EXPECT_EQ(always.composed, 4);
    EXPECT_EQ(code, make_error_code(store_errc::try_again));
    EXPECT_THAT(line().asked,
                ::testing::Contains(ElementsAre("ROLLBACK", "DO RELEASE_LOCK('b')")).Times(4))
        << "a user lock is not rolled back";
}

TEST_F(MysqlPool, WhoEndsATransactionComesBeforeThoseWhoWaitForAnyConnection) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    call_options options;
    options.leaves_open = true;
    const asked begun = ask("START", options);
    statement_answer open;
    open.open = true;
    line().next = std::vector{open};
    line().answer();
    settle();
    ASSERT_EQ(begun->code, error_code{}) << begun->why;
    const asked other = ask("other");
    EXPECT_EQ(world_.lines.size(), 1u) << "it will come back";
    call_options second;
    second.on = begun->got.by;
    const asked ended = ask("COMMIT", second);
    line().answer();
    settle();
    EXPECT_TRUE(ended->done);
    line().answer();
    settle();
    EXPECT_TRUE(other->done);
    EXPECT_THAT(line().asked,
                ElementsAre(ElementsAre("START"), ElementsAre("COMMIT"), ElementsAre("other")));
}

TEST_F(MysqlPool, ClosingEndsWhatIsUnderWayAndWhatWaits) {
    how_.connections_max = 1;
    world_.answers_at_once = false;
    const asked sent = ask(), queued = ask();
    pool().close();
    settle();
    EXPECT_EQ(sent->code, errc::closed) << sent->why;
    EXPECT_EQ(queued->code, errc::closed) << queued->why;
    EXPECT_EQ(ask()->code, errc::closed);
}

TEST_F(MysqlPool, ClosingSaysGoodbyeOnIdleConnections) {
    ask();
    close();
    EXPECT_TRUE(line().ended);
}

TEST_F(MysqlPool, ClosingEndsTheSearchForAServer) {
    world_.refuses = net::failure{errc::unreachable, "refused"};
    holds_ = true;
    ask();
    pass(100ms);
    close();
    settle();
    EXPECT_EQ(clock_.sleepers(), 0u);
}

TEST_F(MysqlPool, NoMoreConnectionsToWaitOnThanItMay) {
    how_.wait_connections_max = 1;
    std::shared_ptr<pinned_connection> first, second;
    const auto take_one = [&](std::shared_ptr<pinned_connection>& into) -> asio::awaitable<void> {
        into = co_await pool().connection_to_wait_on(time_point::max());
    };
    const auto take = [&](std::shared_ptr<pinned_connection>& into) {
        asio::co_spawn(io_, take_one(into),
                       [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
        settle();
    };
    take(first);
    take(second);
    ASSERT_TRUE(first);
    EXPECT_FALSE(second);
    first.reset();
    settle();
    EXPECT_THAT(line().asked, ElementsAre(ElementsAre("DO RELEASE_ALL_LOCKS()")));
    take(second);
    EXPECT_TRUE(second);
    EXPECT_EQ(world_.lines.size(), 1u) << "the same one";
}

} // namespace
} // namespace holdfast::mysql
