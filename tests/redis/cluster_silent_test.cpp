// SPDX-License-Identifier: Apache-2.0
// A server that hangs keeps its connections: who waits there asks the others about it.
#include "cluster_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using ClusterSilent = on_fake_cluster;

TEST_F(ClusterSilent, ACallThatIsNotAnsweredForAQuarterOfItsTimeHasTheMapAskedFor) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    pass(749ms);
    const std::size_t before = questions();
    pass(1ms);
    EXPECT_EQ(questions(), before + 2) << "at both nodes that are known";
    pass(399ms);
    EXPECT_EQ(questions(), before + 2);
    pass(151ms);
    EXPECT_EQ(questions(), before + 4) << "and soon again";
    EXPECT_FALSE(one->done);
    EXPECT_TRUE(session_with(0, "EVALSHA").open) << "it may only be slow";
    at(0).says["EVALSHA"] = ":1\r\n";
    session_with(0, "EVALSHA").muted = false;
    session_with(0, "EVALSHA").send(":1\r\n" + slots_text({0, 1}) + slots_text({0, 1}));
    settle();
    EXPECT_EQ(one->answer.integer, 1);
    const std::size_t answered = questions();
    pass(2s);
    EXPECT_EQ(questions(), answered) << "no more";
}

TEST_F(ClusterSilent, ACallThatHangsEndsWhenAnotherServerIsNamed) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    share({2, 1});
    pass(1100ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterSilent, WhatMostNodesSayIsNotHeldUpByTheOneThatHangs) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    pass(750ms);
    EXPECT_FALSE(one->done);
    share({2, 1});
    pass(250ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterSilent, AnEarThatHearsNothingAsksWhetherTheServerIsThere) {
    ask(low_);
    auto& one = listen(low_);
    confirm(one);
    ASSERT_EQ(one.confirmed, true);
    pass(999ms);
    EXPECT_EQ(at(0).count_asked("PING"), 0u);
    pass(1ms);
    EXPECT_EQ(at(0).count_asked("PING"), 1u);
    at(0).says.erase("PING");
    pass(1s);
    EXPECT_EQ(at(0).count_asked("PING"), 2u);
    const std::size_t before = questions();
    share({2, 1});
    pass(1s);
    EXPECT_GT(questions(), before);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u) << "it listens at the next one";
    EXPECT_EQ(one.rings, 1);
}

TEST_F(ClusterSilent, OfOneServerNobodyIsAsked) {
    how_.cluster.reset();
    ask();
    auto& one = listen();
    confirm(one);
    server_.says.erase("EVALSHA");
    const auto silent = ask();
    pass(2s);
    EXPECT_EQ(questions(), 0u);
    EXPECT_EQ(server_.count_asked("PING"), 0u);
}

} // namespace
} // namespace holdfast
