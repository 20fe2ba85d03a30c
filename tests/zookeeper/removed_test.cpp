// SPDX-License-Identifier: Apache-2.0
// Somebody removes the path of a lock by hand, with all that is below it, as the clean-up of an
// operator does, while one holds it and others wait.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/stream_proxy.hpp"
#include "support/zookeeper_hand.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <boost/asio/use_future.hpp>

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

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

} // namespace
} // namespace holdfast
