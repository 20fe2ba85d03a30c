// SPDX-License-Identifier: Apache-2.0
// What a client believes of its session, and what the ensemble does, while servers die and ways are
// cut. In the order of what happens, so that a slow machine changes nothing.
#include "session_on_server.hpp"
#include "support/stream_proxy.hpp"
#include "support/zookeeper_ensemble.hpp"

#include <algorithm>
#include <functional>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
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
