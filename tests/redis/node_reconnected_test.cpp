// SPDX-License-Identifier: Apache-2.0
// After an outage: which server is there now, who is told, and what else may not keep a client from
// coming back.
#include "node_fixture.hpp"

#include <new>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NodeReconnected : public on_fake_server {
protected:
    void reconnect() {
        server_.drop_connections();
        settle();
        const auto one = ask();
        pass(2s);
        EXPECT_EQ(one->answer.integer, 1);
    }
};

TEST_F(NodeReconnected, AsksForEveryHoldAfterEachReconnection) {
    ask();
    EXPECT_THAT(doubts_, IsEmpty()) << "nothing was held over it yet";
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(false));
}

TEST_F(NodeReconnected, ItIsUrgentWhereTheDataHasAnotherHistory) {
    ask();
    server_.replication_id = "history-2"; // and the run_id is that of before: demoted, and promoted
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true));
    server_.run_id = "run-2";
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true, false));
}

TEST_F(NodeReconnected, ItIsUrgentWhereNobodyCanTell) {
    server_.says["INFO"] = "-NOPERM not for this user\r\n";
    ask();
    EXPECT_EQ(node().identity("k").id, "");
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(NodeReconnected, AnIdleClientThatHoldsComesBackByItself) {
    ask();
    server_.drop_connections();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 1u) << "nothing is held, and nobody asks";
    reconnect();
    holds_ = true;
    server_.drop_connections();
    pass(250ms);
    EXPECT_EQ(server_.sessions.size(), 3u);
    EXPECT_EQ(doubts_.size(), 2u);
    EXPECT_THAT(server_.last().asked, IsEmpty());
}

TEST_F(NodeReconnected, WhileItHoldsItTriesFourTimesASecond) {
    how_.backoff_max = 10s;
    holds_ = true;
    ask();
    server_.says["CLIENT"] = "-LOADING Redis is loading the dataset in memory\r\n";
    server_.drop_connections();
    pass(1min);
    EXPECT_GE(server_.sessions.size(), 240u);
    EXPECT_LE(server_.sessions.size(), 1200u) << "no faster than the backoff allows";
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    holds_ = false;
    pass(10s);
    const std::size_t until_then = server_.sessions.size();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), until_then);
}

TEST_F(NodeReconnected, DoubtIsCastWithin100msOfTheFirstConnectionThatIsAccepted) {
    holds_ = true;
    ask();
    server_.stop();
    pass(20s);
    EXPECT_THAT(doubts_, IsEmpty());
    server_.start();
    while (server_.sessions.size() < 2)
        pass(1ms);
    const time_point accepted_at = clock_.now();
    while (doubts_.empty())
        pass(1ms);
    EXPECT_LE(clock_.now() - accepted_at, 100ms);
}

TEST_F(NodeReconnected, AServerThatWasThereForLongIsTriedAgainSoon) {
    how_.backoff_max = 1h;
    server_.stop();
    for (int i = 0; i < 24; ++i) {
        ask();
        pass(1h);
    }
    server_.start();
    ask();
    pass(2h);
    server_.drop_connections();
    settle();
    const auto next = ask();
    pass(3 * how_.backoff_min);
    EXPECT_EQ(next->answer.integer, 1);
}

TEST_F(NodeReconnected, KnowsWhichServerItIsAndSinceWhenItRemembers) {
    EXPECT_EQ(node().identity("k").id, "");
    EXPECT_FALSE(node().identity("k").forgets_before);
    server_.uptime_s = 100;
    pass(200s);
    ask();
    EXPECT_EQ(node().identity("k").id, "run-1");
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now() - 99s); // at the latest
    server_.drop_connections();
    settle();
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now());
    reconnect();
    EXPECT_LT(*node().identity("k").forgets_before, clock_.now() - 98s) << "the same process";
    server_.drop_connections();
    settle();
    const time_point lost_at = clock_.now();
    EXPECT_EQ(node().identity("k").forgets_before, lost_at);
    server_.run_id = "run-2"; // a wall clock that was set back, or forward, shows any uptime
    reconnect();
    EXPECT_EQ(node().identity("k").id, "run-2");
    EXPECT_EQ(node().identity("k").forgets_before, lost_at);
    server_.drop_connections();
    settle();
    server_.uptime_s = 0;
    pass(10s);
    ask();
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now() + 1s);
}

TEST_F(NodeReconnected, WhateverACredentialProviderThrowsEndsThatAttemptAlone) {
    bool broken = true;
    how_.credentials = [&]() -> credentials {
        if (broken)
            throw 42;
        return {"me", "secret"};
    };
    const auto one = ask();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("no connection to"));
    broken = false;
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
}

/// Gives no alarm when there is no memory.
class short_of_memory final : public clock {
public:
    explicit short_of_memory(clock& real)
        : real_{real} {}
    time_point now() const noexcept override { return real_.now(); }
    std::unique_ptr<alarm> make_alarm() override {
        if (exhausted)
            throw std::bad_alloc{};
        return real_.make_alarm();
    }
    bool exhausted = false;

private:
    clock& real_;
};

TEST_F(NodeReconnected, AnAttemptWithoutMemoryFailsAndTheNextOneIsMade) {
    short_of_memory mine{clock_};
    store_context home{io_.get_executor(), mine, [this] { return random_(); }, {}, "test", {}, {}};
    node_ = redis::make_node(how_, home);
    mine.exhausted = true;
    EXPECT_EQ(ask()->code, errc::unreachable);
    mine.exhausted = false;
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
    close();
    settle();
}

} // namespace
} // namespace holdfast
