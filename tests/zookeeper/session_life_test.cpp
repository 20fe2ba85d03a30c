// SPDX-License-Identifier: Apache-2.0
// What keeps a session alive, and how long a client assumes that its session is alive.
#include "session_fixture.hpp"
#include "support/stream_proxy.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <functional>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr duration granted = 6000ms;
constexpr duration drift = 62ms;

class SessionLife : public on_fake_zookeeper {};

TEST_F(SessionLife, BeginsWithTheOpening) {
    open();
    EXPECT_EQ(left(), granted - drift);
}

TEST_F(SessionLife, TimeoutOtherThanTheWantedOneIsReportedOnce) {
    open();
    EXPECT_EQ(told_.count(event_kind::impaired), 0u) << "it was granted as asked for";
    server_.grants_ms = 4000;
    for (int i = 0; i < 2; ++i) {
        server_.sessions.clear();
        lose_connection();
        pass(how_.backoff_max);
        open();
    }
    ASSERT_EQ(told_.count(event_kind::impaired), 1u);
    EXPECT_THAT(told_.last(event_kind::impaired)->text,
                AllOf(HasSubstr("the session timeout is 4000 ms, and 6000 ms were requested"),
                      HasSubstr("maxSessionTimeout")));
}

TEST_F(SessionLife, IsKeptByWritesWhileItIsInUse) {
    use();
    settle();
    ASSERT_NE(id(), 0);
    pass(10s);
    EXPECT_EQ(server_.count(opcode::multi), 10u) << "each sixth of the timeout";
    for (int i = 0; i < 60; ++i) {
        EXPECT_GE(left(), granted / 4 - drift);
        pass(100ms);
    }
    EXPECT_EQ(news_, std::vector{session_news::opened});
}

TEST_F(SessionLife, IsKeptByPingsWhileItIsNot) {
    open();
    pass(30s);
    EXPECT_EQ(server_.count(opcode::multi), 0u);
    EXPECT_EQ(server_.last().pings, 30u) << "each sixth of the timeout";
    EXPECT_LT(left(), 0ms) << "pings prove nothing";
    EXPECT_NE(id(), 0);
}

TEST_F(SessionLife, IsProvedAtOnceWhenItIsUsedAgain) {
    open();
    pass(30s);
    use();
    settle();
    EXPECT_EQ(server_.count(opcode::multi), 1u);
    EXPECT_GE(left(), granted / 4 - drift);
    pass(20s);
    EXPECT_EQ(news_, std::vector{session_news::opened});
}

// Whoever is granted something holds it for as long as that is sure, which must be some time.
TEST_F(SessionLife, IsSureBehindTheFirstWriteHoweverLongNobodyUsedIt) {
    open();
    for (const duration busy : {10ms, 600ms, 2500ms})
        for (duration idle = 0ms; idle < 12s; idle += 130ms) {
            for (duration spent = 0ms; spent < busy; spent += 100ms) {
                use();
                ASSERT_TRUE(create()->answer);
                use_.reset();
                pass(100ms);
            }
            pass(idle);
            use();
            ASSERT_TRUE(create()->answer);
            ASSERT_GT(left(), granted * 3 / 10)
                << "used for " << busy.count() << " ms, not used for " << idle.count();
            use_.reset();
        }
}

TEST_F(SessionLife, IsClosedWhenNobodyNeedsItForLong) {
    open();
    pass(59s);
    EXPECT_EQ(server_.count(opcode::close_session), 0u);
    pass(1s);
    EXPECT_EQ(server_.count(opcode::close_session), 1u);
    EXPECT_EQ(id(), 0);
    EXPECT_FALSE(server_.last().open);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u) << "nothing went wrong";
    open();
    EXPECT_NE(id(), 0);
}

TEST_F(SessionLife, AnyWriteProvesAsMuchAsAHeartbeat) {
    open();
    pass(4s);
    EXPECT_EQ(left(), 2000ms - drift);
    create();
    EXPECT_EQ(left(), granted - 3000ms - drift) << "the ping of 1 s counts";
    pass(1s);
    create();
    EXPECT_EQ(left(), granted - 3000ms - drift) << "the ping of 2 s counts";
}

TEST_F(SessionLife, AWriteThatIsRefusedByOneServerProvesNothing) {
    open();
    pass(5s);
    server_.says[opcode::create2] = {-127, ""}; // throttled
    create();
    EXPECT_EQ(left(), granted - 5000ms - drift);
}

TEST_F(SessionLife, GoesOnOverAnotherConnection) {
    use();
    settle();
    const std::int64_t before = id();
    pass(5s);
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_EQ(id(), before);
    EXPECT_EQ(server_.last().greeting->id, before);
    EXPECT_EQ(server_.last().greeting->password, std::string(16, 'p'));
    EXPECT_GT(server_.last().greeting->last_zxid, 100);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_F(SessionLife, ResumingProvesNothingBeforeAWriteIsAnswered) {
    open();
    pass(5s);
    const time_point believed = session().state().alive_until;
    lose_connection();
    pass(500ms);
    open(); // by a read
    EXPECT_EQ(news_.back(), session_news::resumed);
    EXPECT_EQ(session().state().alive_until, believed);
    create();
    EXPECT_EQ(left(), granted - drift);
}

TEST_F(SessionLife, ThatIsNotKnownAnyMoreIsLost) {
    use();
    settle();
    const std::int64_t before = id();
    server_.sessions.clear();
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_NE(id(), before);
    EXPECT_NE(id(), 0);
    EXPECT_THAT(news_, ElementsAre(session_news::opened, session_news::suspended,
                                   session_news::ended, session_news::opened));
}

// As ClickHouse Keeper does.
TEST_F(SessionLife, AChangedSessionIdIsLoss) {
    use();
    settle();
    std::string another;
    zookeeper::jute_writer{another}.number(0).number(6000).long_number(99).text("pw").flag(false);
    server_.welcomes_with = [&](const zookeeper::greeting& said) {
        return said.id ? std::optional{another} : std::nullopt;
    };
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_THAT(news_, ElementsAre(session_news::opened, session_news::suspended,
                                   session_news::ended, session_news::opened));
    EXPECT_NE(id(), 99);
    EXPECT_EQ(server_.last().greeting->id, 0)
        << "nobody goes on in a session that was not asked for";
}

TEST_F(SessionLife, AnAnswerThatItHasExpiredIsLoss) {
    open();
    server_.says[opcode::get_children] = {-112, ""};
    const auto listed = list();
    EXPECT_EQ(listed->code, errc::unreachable);
    EXPECT_EQ(id(), 0);
    server_.says.clear();
    pass(how_.backoff_max);
    open();
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::ended, session_news::opened));
}

TEST_F(SessionLife, ADigestIsSentAgainAfterReconnect) {
    how_.user = "app";
    how_.password = "secret";
    open();
    lose_connection();
    pass(how_.backoff_max);
    open();
    ASSERT_EQ(server_.visits.size(), 2u);
    for (const auto& visit : server_.visits) {
        ASSERT_FALSE(visit->requests.empty());
        EXPECT_EQ(visit->requests.front().what, opcode::authenticate) << "before anything else";
        EXPECT_THAT(visit->requests.front().body, HasSubstr("app:secret"));
    }
}

TEST_F(SessionLife, CredentialsAreAskedForAtEachConnection) {
    int asked = 0;
    how_.credentials = [&] { return credentials{"app", std::to_string(++asked)}; };
    open();
    lose_connection();
    pass(how_.backoff_max);
    open();
    EXPECT_THAT(server_.last().requests.front().body, HasSubstr("app:2"));
}

TEST_F(SessionLife, ALoginThatIsRefusedIsToldToWhoAsks) {
    how_.user = "app";
    how_.password = "wrong";
    server_.login_error = -115;
    const auto listed = list();
    EXPECT_EQ(listed->code, store_errc::not_authenticated);
    EXPECT_EQ(server_.count(opcode::get_children), 0u);
}

TEST_F(SessionLife, ASilentServerIsLeftInTime) {
    use();
    settle();
    server_.answers = false;
    pass(5s);
    EXPECT_GE(server_.visits.size(), 2u);
    EXPECT_THAT(told_.last(event_kind::disconnected).value().text,
                HasSubstr("did not answer within"));
}

TEST_F(SessionLife, AServerThatAnswersReadsButNoWritesIsLeft) {
    use();
    settle();
    const time_point believed = session().state().alive_until;
    server_.answers_writes = false;
    for (int i = 0; i < 20; ++i) {
        list();
        pass(100ms);
    }
    EXPECT_EQ(session().state().alive_until, believed);
    pass(2s);
    EXPECT_GE(server_.visits.size(), 2u);
}

TEST_F(SessionLife, AfterTheProcessStoodStillResumingProvesThatItLives) {
    use();
    settle();
    pass(10s);
    const std::int64_t before = id();
    clock_.stand_still(granted * 11 / 12);
    settle();
    EXPECT_LT(left(), granted / 6) << "answers prove nothing yet";
    const auto proved = begin(session().prove_alive(clock_.now() + 1s));
    pass(100ms);
    EXPECT_TRUE(proved->done);
    EXPECT_FALSE(proved->code) << proved->text;
    EXPECT_GT(left(), granted * 3 / 4);
    EXPECT_EQ(id(), before);
}

TEST_F(SessionLife, ASessionThatIsKnownToLiveIsNotResumed) {
    use();
    settle();
    pass(10s);
    const std::size_t visits = server_.visits.size();
    EXPECT_TRUE(begin(session().prove_alive(clock_.now() + 1s))->done);
    EXPECT_EQ(server_.visits.size(), visits);
}

TEST_F(SessionLife, EndsByOurOwnClockWhenNobodyAnswersAnyMore) {
    use();
    settle();
    pass(10s);
    const time_point end = session().state().alive_until;
    server_.stop();
    clock_.run_until(end - 1ms);
    EXPECT_NE(id(), 0);
    EXPECT_EQ(news_.back(), session_news::suspended);
    clock_.run_until(end);
    EXPECT_EQ(id(), 0);
    EXPECT_EQ(news_.back(), session_news::ended);
}

TEST_F(SessionLife, WhatOurClockHasEndedIsClosedBeforeAnotherIsOpened) {
    use();
    settle();
    pass(10s);
    const std::int64_t before = id();
    server_.stop();
    pass(4s);
    ASSERT_EQ(news_.back(), session_news::ended);
    const std::size_t visits = server_.visits.size();
    server_.start(); // which has not ended it
    pass(how_.backoff_max);
    ASSERT_EQ(server_.visits.size(), visits + 2);
    EXPECT_EQ(server_.visits[visits]->greeting->id, before);
    EXPECT_EQ(server_.visits[visits]->greeting->last_zxid, 0);
    EXPECT_EQ(server_.visits[visits]->requests.front().what, opcode::close_session)
        << "else its nodes stay, and everybody waits behind them";
    EXPECT_EQ(server_.last().greeting->id, 0);
    EXPECT_EQ(news_.back(), session_news::opened);
}

TEST_F(SessionLife, ThatIsLongGoneIsNotResumed) {
    open();
    server_.stop();
    pass(12s);
    server_.start(); // without what it had, so that it would refuse our last number
    open();
    EXPECT_EQ(server_.last().greeting->id, 0);
    EXPECT_EQ(server_.last().greeting->last_zxid, 0);
}

// Compares a client's view of its session with the ensemble's, while servers die and connections
// are cut. The steps follow events and not times, so that a slow machine changes nothing.

using support::zookeeper_ensemble;
using support::zookeeper_server;
using zookeeper::node_mode;
using zookeeper::session_news;

/// Its clients are at one server alone: so nothing mends what that one does.
class TheTermNeverOutlivesTheNode : public ::testing::Test {
protected:
    static constexpr duration session_length = 2s;

    void SetUp() override {
        support::make_or_skip([this] {
            all_ = std::make_unique<zookeeper_ensemble>(support::zookeepers().back(), kind());
        });
    }
    virtual zookeeper_ensemble::options kind() const {
        return zookeeper_ensemble::options::slow_to_notice();
    }

    zookeeper::options at(const zookeeper_server& server, duration length = session_length) {
        return session_options({server.port()}, length);
    }
    zookeeper::options beside(const zookeeper_server& server) {
        std::vector<std::uint16_t> ports;
        for (const zookeeper_server* each : all_->all_but(server))
            ports.push_back(each->port());
        return session_options(ports, 8s);
    }

    /// Goes on until the others do not see its node any more.
    static void expect_belief_to_end_first(
        running_session& mine, running_session& other, const std::string& path,
        const std::function<void()>& also = [] {}) {
        time_point believed = time_point::min();
        for (bool gone = false; !gone;) {
            mine.run_for(5ms);
            also();
            believed = std::max(believed, mine->state().alive_until);
            try {
                gone = !other.has(path);
            } catch (const boost::system::system_error&) { // they elect a leader
            }
        }
        const time_point now = runtime::machine_time();
        EXPECT_LE(believed, now) << "for " << (believed - now).count() << " ms two could hold it";
    }

    std::unique_ptr<zookeeper_ensemble> all_;
};

TEST_F(TheTermNeverOutlivesTheNode, WhereTheClientIsSilent) {
    zookeeper_server& follower = all_->follower();
    running_session other{beside(follower)};
    for (const duration busy : {10ms, 300ms, 1500ms}) {
        running_session mine{at(follower)};
        mine.use();
        const std::string path = mine.create("/silent", node_mode::ephemeral);
        mine.run_for(busy);
        const time_point believed = mine->state().alive_until;
        while (other.has(path))
            ;
        EXPECT_GE(runtime::machine_time(), believed);
    }
}

TEST_F(TheTermNeverOutlivesTheNode, WhereAFollowerIsKilled) {
    for (const duration busy : {10ms, 700ms, 1800ms}) {
        zookeeper_server& follower = all_->follower();
        running_session other{beside(follower)};
        running_session mine{at(follower)};
        mine.use();
        const std::string path = mine.create("/killed", node_mode::ephemeral);
        mine.run_for(busy);
        follower.stop();
        expect_belief_to_end_first(mine, other, path);
        follower.restart();
    }
}

/// That server sees the node for seconds, and says so.
class ServerCutOff : public TheTermNeverOutlivesTheNode {
protected:
    /// Its calls end soon, so that the other session is not silent meanwhile.
    zookeeper::options quick_beside(const zookeeper_server& server) {
        zookeeper::options quick = beside(server);
        quick.command_timeout = 300ms;
        return quick;
    }
    void cut_off_with_a_client(zookeeper_server& server) {
        running_session other{quick_beside(server)};
        running_session mine{at(server)};
        const std::string path = mine.create("/cut", node_mode::ephemeral);
        const std::vector<std::string> paths{path};
        for (int i = 0; i < 30; ++i) {
            mine.run_for(50ms);
            EXPECT_THAT(mine.run(mine->confirm(paths, time_point::max())),
                        ::testing::ElementsAre(true));
        }
        all_->cut_off(server);
        int seen = 0;
        const auto look = [&] {
            try {
                seen += mine.has(path);
            } catch (const boost::system::system_error&) { // it has noticed
            }
        };
        expect_belief_to_end_first(mine, other, path, look);
        EXPECT_GT(seen, 10);
    }
};

TEST_F(ServerCutOff, AFollowerConvincesNobody) {
    cut_off_with_a_client(all_->follower());
}

TEST_F(ServerCutOff, TheLeaderConvincesNobody) {
    cut_off_with_a_client(all_->leader());
}

// Its heartbeats are not answered, and no other server can be reached.
TEST_F(ServerCutOff, AClientThatIsInUseEndsItsSessionInTime) {
    zookeeper_server& leader = all_->leader();
    running_session other{beside(leader)};
    running_session mine{at(leader)};
    mine.use();
    const std::string path = mine.create("/cut", node_mode::ephemeral);
    mine.run_for(1500ms);
    all_->cut_off(leader);
    expect_belief_to_end_first(mine, other, path);
    EXPECT_EQ(mine.heard(session_news::ended), 1);
}

/// Its old leader goes on for much longer than the others need to elect another one.
class LeaderCutOffForLong : public ServerCutOff {
protected:
    static constexpr duration long_session = 8s; // the longest of 20 ticks

    zookeeper_ensemble::options kind() const override { return {.tick = 400ms, .sync_limit = 50}; }
};

// Its client connects again and again, and it says each time that the session is there.
TEST_F(LeaderCutOffForLong, AResumptionThereProvesNothing) {
    zookeeper_server& leader = all_->leader();
    const std::vector<zookeeper_server*> others = all_->all_but(leader);
    support::stream_proxy way{(leader.folder() / "way").string(), leader.port()};
    zookeeper::options through = at(leader, long_session);
    through.servers = {{way.socket_path(), 1}};
    running_session other{quick_beside(leader)};
    running_session mine{through};
    mine.use();
    const std::string path = mine.create("/cut", node_mode::ephemeral);
    mine.run_for(1500ms);
    all_->cut_off(leader);
    const auto connect_again = [&] {
        if (mine->state().connected)
            way.cut_after(support::way::requests, 0);
        mine.run_for(100ms);
    };
    for (zookeeper_server* each : others) // so that they elect at once
        each->stop();
    while (mine.heard(session_news::resumed) + mine.heard(session_news::ended) == 0)
        connect_again();
    EXPECT_EQ(mine.heard(session_news::resumed), 1);
    for (zookeeper_server* each : others)
        each->launch();
    expect_belief_to_end_first(mine, other, path, connect_again);
}

class SessionFailover : public TheTermNeverOutlivesTheNode {
protected:
    zookeeper::options everywhere() {
        std::vector<std::uint16_t> ports;
        for (std::size_t i = 0; i < all_->size(); ++i)
            ports.push_back((*all_)[i].port());
        return session_options(ports, 8s);
    }
};

TEST_F(SessionFailover, KeepsTheSessionAndItsNodesWhenTheLeaderDies) {
    running_session mine{everywhere()};
    mine.use();
    const auto first = mine.make("/n", node_mode::ephemeral);
    const std::int64_t before = mine->state().id;
    all_->leader().stop();
    mine.run_until(
        [&] { return mine.news.back() == session_news::resumed && mine->state().connected; });
    EXPECT_TRUE(mine.has("/n"));
    EXPECT_EQ(mine->state().id, before);
    EXPECT_EQ(mine.heard(session_news::ended), 0);
    EXPECT_GT(mine.make("/m", node_mode::ephemeral).node.stat.czxid, first.node.stat.czxid);
}

TEST_F(SessionFailover, GoesFromAFollowerThatIsCutOffToAnother) {
    zookeeper_server& follower = all_->follower();
    zookeeper::options how = everywhere();
    running_session mine{how};
    mine.use();
    mine.create("/n", node_mode::ephemeral);
    mine.run_until([&] { return mine->state().alive_until > runtime::machine_time(); });
    all_->cut_off(follower);
    mine.run_for(4s);
    EXPECT_GT(mine->state().alive_until, runtime::machine_time());
    EXPECT_EQ(mine.heard(session_news::ended), 0);
}

} // namespace
} // namespace holdfast
