// SPDX-License-Identifier: Apache-2.0
// A mouth that has nothing to say for long, and a peer that vanished meanwhile: half-open
// connections tell nobody.
#include "node_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class IdleMouth : public on_fake_server {
protected:
    IdleMouth() {
        server_.says["PING"] = "+PONG\r\n";
        server_.says["ROLE"] = "-NOPERM not for this user\r\n"; // else it asks that instead
    }
    std::size_t pings() const { return server_.count_asked("PING"); }

    void expect_first_ping_after(duration quiet) {
        ask();
        pass(quiet - 1ms);
        EXPECT_EQ(pings(), 0u);
        pass(1ms);
        EXPECT_EQ(pings(), 1u);
    }
};

TEST_F(IdleMouth, AsksAThirdOfALeaseAfterItLastHeardWhetherTheServerIsThere) {
    lease_time_ = 60s;
    expect_first_ping_after(20s);
    pass(20s);
    EXPECT_EQ(pings(), 2u);
    pass(1h);
    EXPECT_EQ(pings(), 182u);
    EXPECT_EQ(server_.sessions.size(), 1u);
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(IdleMouth, AsksNothingWhileItHears) {
    for (int i = 0; i < 20; ++i) {
        ask();
        pass(9s);
    }
    EXPECT_EQ(pings(), 0u);
}

TEST_F(IdleMouth, AsksNoMoreOftenThanAnAnswerMayTake) {
    lease_time_ = 30ms;
    expect_first_ping_after(3s);
}

TEST_F(IdleMouth, AsksEveryMinuteHoweverLongALeaseIs) {
    lease_time_ = 24h;
    expect_first_ping_after(1min);
}

TEST_F(IdleMouth, FindsADeadServerWithinALease) {
    server_.says.erase("PING");
    ask();
    pass(10s + 5'999ms);
    EXPECT_TRUE(server_.last().open);
    pass(1ms);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("did not answer within"));
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 1u); // nobody wants anything of the next one yet
    EXPECT_EQ(ask()->answer.integer, 1);    // and whoever does finds no dead one in the way
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(IdleMouth, AsksForTheRoleInsteadWhereItIsTold) {
    server_.says["ROLE"] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    ask();
    pass(30s);
    EXPECT_EQ(server_.count_asked("ROLE"), 3u);
    EXPECT_EQ(pings(), 0u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(IdleMouth, LeavesAServerThatHasBecomeAReplica) {
    server_.says["ROLE"] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    ask();
    pass(9s);
    server_.says["ROLE"] = "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
    pass(1s);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("has become a replica"));
    EXPECT_EQ(ask()->done, false);
    pass(1s);
    EXPECT_EQ(server_.count_asked("EVALSHA"), 1u) << "the next one is asked for its role first";
}

TEST_F(IdleMouth, TakesARefusalForASignOfLife) {
    server_.says["PING"] = "-NOPERM this user has no permissions to run the 'ping' command\r\n";
    ask();
    pass(1h);
    EXPECT_GT(pings(), 300u);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(IdleMouth, ItsQuestionTakesNobodysAnswer) {
    server_.says.erase("PING");
    ask();
    pass(11s);
    ASSERT_EQ(pings(), 1u);
    const auto behind = ask();
    EXPECT_FALSE(behind->done);
    server_.last().send("+PONG\r\n:7\r\n");
    settle();
    EXPECT_EQ(behind->answer.integer, 7);
    pass(8s);
    EXPECT_TRUE(server_.last().open);
}

TEST_F(IdleMouth, AsksTheNextConnectionAnew) {
    ask();
    pass(9s);
    server_.drop_connections();
    pass(5s);
    ask();
    pass(9'999ms);
    EXPECT_EQ(pings(), 0u);
    pass(1ms);
    EXPECT_EQ(pings(), 1u);
}

} // namespace
} // namespace holdfast
