// SPDX-License-Identifier: Apache-2.0
// After its connection was cut, a client has no second node in the queue of a lock.
#include "runtime/clock.hpp"
#include "session_fixture.hpp"
#include "store/zookeeper/zookeeper_store.hpp"
#include "support/cut_lock.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/stream_proxy.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/error.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::eventually;
using support::way;

class ZookeeperCut : public ::testing::Test, protected support::cut_lock {
protected:
    ZookeeperCut()
        : cut_lock{support::far_too_long} {}

    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([this] {
            if (!server())
                server() = std::make_unique<support::zookeeper_server>();
            proxy_.emplace((server()->folder() / "cut").string(), server()->port());
        });
        if (proxy_)
            use(client_at({proxy_->socket_path(), 1}), client_at({"127.0.0.1", server()->port()}),
                name_);
    }
    void look_at_held() override {
        EXPECT_TRUE(eventually([this] {
            const std::optional<lock_state> now = other().inspect(name_);
            return now && now->owners.size() == 1 && now->waiters.empty();
        })) << "a node of an attempt that was given up stands in the line";
    }

private:
    client client_at(server_address where) const {
        zookeeper::options at;
        at.servers = {std::move(where)};
        at.backoff_max = duration{50};
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.observer = told_;
        return client{std::move(how)};
    }
    /// Of all tests here.
    static std::unique_ptr<support::zookeeper_server>& server() {
        static std::unique_ptr<support::zookeeper_server> one;
        return one;
    }

    const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ZookeeperCut, ALockThatIsAskedForIsTakenOnce) {
    cut_everywhere(7, [this](std::size_t bytes) { return lock_cut(way::requests, bytes); });
}
TEST_F(ZookeeperCut, ALockThatIsGrantedIsTakenOnce) {
    cut_everywhere(7, [this](std::size_t bytes) { return lock_cut(way::answers, bytes); });
}
TEST_F(ZookeeperCut, AReleaseThatIsAskedForIsDone) {
    cut_everywhere(7, [this](std::size_t bytes) { return unlock_cut(way::requests, bytes); });
}
TEST_F(ZookeeperCut, AReleaseThatIsAcknowledgedIsDone) {
    cut_everywhere(3, [this](std::size_t bytes) { return unlock_cut(way::answers, bytes); });
}

// A leader that the others do not hear goes on answering for seconds, and says that the sessions of
// its clients are there. Who holds a lock at it must not believe that. In the order of what
// happens, so that a slow machine changes nothing.

using namespace std::chrono_literals;
using support::soon;
using support::zookeeper_ensemble;
using support::zookeeper_server;

class LeaderCutOff : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            all_ = std::make_unique<zookeeper_ensemble>(
                support::zookeepers().back(), zookeeper_ensemble::options::slow_to_notice());
        });
    }

    client client_at(const std::vector<zookeeper_server*>& servers, duration session) {
        zookeeper::options at;
        at.servers.clear();
        for (const zookeeper_server* each : servers)
            at.servers.push_back({"127.0.0.1", each->port()});
        at.command_timeout = 300ms; // so that it asks again soon
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.lease_time = session;
        return client{std::move(how)};
    }

    /// Somebody waits for the lock at the other servers, and has it then: until when the holder
    /// believed in it must be over.
    class successor {
    public:
        successor(client& of, const lease& before)
            : before_{before}
            , lock_{of, "lock"} {
            auto handler = [to = granted_](const error_code& ec, lease got) {
                to->at = runtime::machine_time();
                if (ec)
                    to->whole.set_exception(
                        std::make_exception_ptr(boost::system::system_error{ec}));
                else
                    to->whole.set_value(std::move(got));
            };
            lock_.async_lock(std::move(handler));
        }
        void look() {
            const time_point now = runtime::machine_time();
            if (const duration left = before_.remaining(); left > duration::zero())
                believed_ = std::max(believed_, now + left);
        }
        void expect_holder_to_give_up() {
            EXPECT_TRUE(eventually([this] {
                look();
                return !before_.owns_lock();
            }));
        }
        lease granted_after_it() {
            EXPECT_TRUE(eventually([this] {
                look();
                return support::is_ready(waits_);
            }));
            lease got = soon(std::move(waits_));
            EXPECT_LE(believed_, granted_->at)
                << "for " << (believed_ - granted_->at).count() << " ms two held it";
            EXPECT_FALSE(before_.owns_lock());
            EXPECT_GT(got.fencing_token(), before_.fencing_token());
            return got;
        }

    private:
        struct grant {
            std::promise<lease> whole{};
            time_point at{};
        };
        const lease& before_;
        fenced_mutex lock_;
        time_point believed_ = time_point::min();
        std::shared_ptr<grant> granted_ = std::make_shared<grant>(); // the handler's too
        std::future<lease> waits_ = granted_->whole.get_future();
    };

    /// The old leader is one of the others again, and its client sees what they do.
    void expect_busy(fenced_mutex& lock, const lease& before, const lease& now) {
        bool taken = true;
        EXPECT_TRUE(eventually([&] {
            EXPECT_FALSE(before.owns_lock());
            try {
                taken = lock.try_lock();
                return true;
            } catch (const boost::system::system_error&) {
                return false; // not there yet
            }
        }));
        EXPECT_FALSE(taken && now.owns_lock());
    }

    std::unique_ptr<zookeeper_ensemble> all_;
};

TEST_F(LeaderCutOff, ItsClientDoesNotHoldBesideAnother) {
    zookeeper_server& leader = all_->leader();
    client home = client_at({&leader}, 2s), other = client_at(all_->all_but(leader), 8s);
    fenced_mutex lock{home, "lock"};
    const lease held = soon(lock.async_lock(asio::use_future));
    successor next{other, held};
    ASSERT_TRUE(eventually([&] { return home.inspect("lock")->waiters.size() == 1; }));
    all_->cut_off(leader);
    next.expect_holder_to_give_up();
    EXPECT_EQ(leader.mode(), "leader") << "it can keep nothing alone, though it answers";
    const lease theirs = next.granted_after_it();
    all_->restore();
    expect_busy(lock, held, theirs);
}

TEST_F(LeaderCutOff, ALeaderThatStoodStillMeanwhileGivesNothingBack) {
    zookeeper_server& leader = all_->leader();
    const std::vector<zookeeper_server*> followers = all_->all_but(leader);
    client home = client_at({&leader}, 2s), other = client_at(followers, 8s);
    fenced_mutex lock{home, "lock"};
    const lease held = soon(lock.async_lock(asio::use_future));
    successor next{other, held};
    ASSERT_TRUE(eventually([&] { return home.inspect("lock")->waiters.size() == 1; }));
    for (zookeeper_server* each : followers)
        each->pause();
    next.expect_holder_to_give_up();
    EXPECT_EQ(leader.mode(), "leader") << "it can keep nothing alone, though it answers";
    leader.pause();
    for (zookeeper_server* each : followers)
        each->resume();
    const lease theirs = next.granted_after_it();
    leader.resume();
    expect_busy(lock, held, theirs);
}

// Somebody removes the path of a lock by hand, with all that is below it, as the clean-up of an
// operator does, while one holds it and others wait.

class RemovedPath : public ::testing::Test {
protected:
    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([this] {
            if (!server())
                server() = std::make_unique<support::zookeeper_server>(
                    support::zookeeper(),
                    support::zookeeper_server::options{.lines = {"maxSessionTimeout=30000"}});
            way_.emplace((server()->folder() / "removed").string(), server()->port());
            hand_.emplace(server()->port());
            home_ = client_at({"127.0.0.1", server()->port()});
            other_ = client_at({way_->socket_path(), 1});
        });
    }

    static std::unique_ptr<client> client_at(server_address where) {
        zookeeper::options at;
        at.servers = {std::move(where)};
        at.command_timeout = support::far_too_long; // its requests are kept on their way
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.lease_time = support::far_too_long;
        return std::make_unique<client>(std::move(how));
    }

    std::size_t waiters() {
        const std::optional<lock_state> now = home_->inspect(name_);
        return now ? now->waiters.size() : 0;
    }

    /// All of it, before whoever waits at the other end of the way can do anything.
    void remove_all() {
        way_->hold_back();
        hand_->erase(path_);
        EXPECT_FALSE(hand_->get(path_)) << "somebody has made it again";
    }

    static void expect_lost(lease& held) {
        EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
        EXPECT_FALSE(held.owns_lock());
        error_code ec;
        held.unlock(ec);
        EXPECT_EQ(ec, errc::lease_lost);
    }

    /// Of all tests here.
    static std::unique_ptr<support::zookeeper_server>& server() {
        static std::unique_ptr<support::zookeeper_server> one;
        return one;
    }

    const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string path_ = "/holdfast/" + name_;
    std::optional<support::stream_proxy> way_;
    std::optional<support::zookeeper_hand> hand_;
    std::unique_ptr<client> home_, other_;
};

TEST_F(RemovedPath, IsLostForWhoHoldsAndMadeAgainByWhoWaits) {
    mutex lock{*home_, name_}, same{*other_, name_};
    lease held = soon(lock.async_lock(asio::use_future));
    std::future<lease> waiting = same.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return waiters() == 1; }));
    remove_all();
    expect_lost(held);
    EXPECT_FALSE(support::is_ready(waiting)) << "it has no node, and cannot hold";
    way_->let_go();
    lease next = soon(std::move(waiting));
    EXPECT_TRUE(next.owns_lock());
    EXPECT_FALSE(lock.try_lock()) << "its node is there";
    std::future<lease> behind = lock.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return waiters() == 1; }));
    next.unlock();
    EXPECT_TRUE(soon(std::move(behind)).owns_lock());
}

TEST_F(RemovedPath, IsNotTakenByTwoOfThoseWhoWait) {
    mutex lock{*home_, name_};
    lease held = soon(lock.async_lock(asio::use_future));
    const auto third = client_at({way_->socket_path(), 1});
    mutex one{*other_, name_}, two{*third, name_};
    std::future<lease> first = one.async_lock(asio::use_future);
    std::future<lease> second = two.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return waiters() == 2; }));
    remove_all();
    expect_lost(held);
    way_->let_go();
    ASSERT_TRUE(eventually([&] { return support::is_ready(first) || support::is_ready(second); }));
    ASSERT_TRUE(eventually([&] { return waiters() == 1; })) << "the other one is behind it";
    EXPECT_NE(support::is_ready(first), support::is_ready(second));
    std::future<lease>& now = support::is_ready(first) ? first : second;
    std::future<lease>& later = support::is_ready(first) ? second : first;
    now.get().unlock();
    EXPECT_TRUE(soon(std::move(later)).owns_lock());
}

// A server that has too much to do answers some requests with ThrottledOp: it has done nothing of
// them, and does what comes behind them.

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using zookeeper::node_mode;

constexpr std::int32_t throttled = -127;
constexpr opcode all_that_is_throttled[] = {
    opcode::create2,  opcode::create_container, opcode::get_children, opcode::get_data,
    opcode::set_data, opcode::remove,           opcode::sync,         opcode::multi};

class ThrottledCalls : public on_fake_zookeeper {
protected:
    ThrottledCalls() {
        for (const opcode each : all_that_is_throttled)
            server_.says[each] = {throttled, ""};
    }
    template <typename T>
    static void expect_nothing_done(const call<T>& what) {
        ASSERT_TRUE(what->done);
        EXPECT_EQ(what->code, store_errc::try_again);
        EXPECT_EQ(what->code, errc::unreachable) << "it is worth another try";
        EXPECT_THAT(what->text, HasSubstr("ThrottledOp (-127)"));
    }
    void expect_session_goes_on() {
        server_.says.clear();
        open();
        EXPECT_EQ(server_.visits.size(), 1u);
        EXPECT_THAT(news_, ElementsAre(session_news::opened));
    }
};

TEST_F(ThrottledCalls, SayThatNothingWasDoneAndTheSessionGoesOn) {
    const zookeeper::new_node plain{"/p/n", "me", node_mode::ephemeral};
    const zookeeper::new_node container{"/p/n", "me", node_mode::container};
    expect_nothing_done(begin(session().create(plain)));
    expect_nothing_done(begin(session().create(container)));
    expect_nothing_done(begin(session().create_and_list(plain, "/p")));
    expect_nothing_done(list());
    expect_nothing_done(begin(session().get("/p")));
    expect_nothing_done(begin(session().set("/p", "new")));
    expect_nothing_done(begin(session().remove("/p")));
    expect_nothing_done(begin(session().sync("/p")));
    expect_nothing_done(confirm({"/p"}));
    expect_session_goes_on();
}

TEST_F(ThrottledCalls, SetNoWatch) {
    int told = 0;
    std::function<void()> tell = [&told] { ++told; };
    expect_nothing_done(begin(session().watch_node("/p", tell)));
    const auto wake = clock_.make_alarm();
    expect_nothing_done(begin(session().list_and_watch("/p", *wake)));
    server_.last().send(server_.event(zookeeper::node_event::kind::deleted, "/p"));
    settle();
    EXPECT_EQ(told, 0);
    expect_session_goes_on();
}

TEST_F(ThrottledCalls, AHeartbeatProvesNothingAndTheNextOneDoes) {
    use();
    settle();
    const time_point believed = session().state().alive_until;
    pass(3s);
    EXPECT_GT(server_.count(opcode::multi), 0u);
    EXPECT_EQ(session().state().alive_until, believed);
    expect_session_goes_on();
    pass(4s);
    EXPECT_GT(session().state().alive_until, believed);
}

/// A lock at a server that makes one node, and lists it.
class ThrottledLock : public on_fake_zookeeper {
protected:
    ThrottledLock() {
        server_.improvises = [this](const fake_zookeeper::asked& one) { return said_to(one); };
    }
    ~ThrottledLock() override {
        spot_.reset();
        store_.close();
        settle();
    }

    void throttle(opcode what, int times) { left_[what] = times; }

    call<answer> look() {
        if (!spot_)
            spot_ = store_.locks().line_up(want_, *wake_);
        return begin(spot_->look());
    }

    std::string node_; ///< that was made
    const ask want_ = [] {
        ask one{"lock", owner_id{{}, 1}, lock_kind::plain};
        one.lease_time = 30s;
        one.give_up_at = time_point::max();
        return one;
    }();
    const std::unique_ptr<alarm> wake_ = clock_.make_alarm();
    zookeeper::zookeeper_store store_{zookeeper::make_session(how_, context()), context(), how_};
    std::unique_ptr<place> spot_;

private:
    std::optional<std::string> said_to(const fake_zookeeper::asked& one) {
        if (int& left = left_[one.what]; left > 0) {
            --left;
            return server_.answer(one.number, throttled);
        }
        if (one.what == opcode::create2) {
            node_ = std::string{zookeeper::jute_reader{one.body}.text()} + "0000000007";
            return server_.answer(one.number, 0,
                                  fake_zookeeper::text(node_) +
                                      fake_zookeeper::stat(7, server_.sessions.back()));
        }
        if (one.what == opcode::get_data)
            return server_.answer(one.number, 0,
                                  fake_zookeeper::text("") +
                                      fake_zookeeper::stat(7, server_.sessions.back()));
        if (one.what == opcode::get_children)
            return server_.answer(one.number, 0,
                                  fake_zookeeper::texts({node_.substr(node_.rfind('/') + 1)}));
        return std::nullopt;
    }

    std::map<opcode, int> left_;
};

TEST_F(ThrottledLock, ACreationThatWasNotDoneLeavesNothingBehind) {
    throttle(opcode::create2, 1);
    EXPECT_EQ(look()->code, store_errc::try_again);
    EXPECT_FALSE(spot_->must_leave());
    EXPECT_FALSE(spot_->uncertain());
    EXPECT_TRUE(look()->answer.value().granted);
}

TEST_F(ThrottledLock, ANodeIsNotForgottenWhereItsLineIsNotTold) {
    throttle(opcode::get_children, 1);
    EXPECT_EQ(look()->code, errc::outcome_unknown);
    EXPECT_TRUE(spot_->must_leave()) << "its node is in the line";
    EXPECT_TRUE(spot_->uncertain());
    ASSERT_TRUE(begin(spot_->leave())->answer);
    ASSERT_EQ(server_.count(opcode::remove), 1u);
    const std::string& body = server_.last().requests.back().body;
    EXPECT_EQ(zookeeper::jute_reader{body}.text(), node_);
}

TEST_F(ThrottledLock, IsHadByTheSameNodeWhenTheLineIsTold) {
    throttle(opcode::get_children, 1);
    EXPECT_EQ(look()->code, errc::outcome_unknown);
    EXPECT_TRUE(look()->answer.value().granted);
    EXPECT_EQ(server_.count(opcode::create2), 1u);
}

// Nobody throttles, but the list behind the node was one request too many.
TEST_F(ThrottledLock, ANodeIsNotForgottenWhereItsLineCannotBeAskedFor) {
    how_.requests_max = 1;
    const auto narrow = zookeeper::make_session(how_, context());
    const zookeeper::new_node node{"/p/n-", "me", node_mode::ephemeral_sequential};
    const auto both = begin(narrow->create_and_list(node, "/p"));
    EXPECT_EQ(server_.count(opcode::create2), 1u);
    EXPECT_EQ(both->code, errc::outcome_unknown) << both->text;
    narrow->close();
}

} // namespace
} // namespace holdfast
