// SPDX-License-Identifier: Apache-2.0
// The server's date is moved while a lock is held.
#include "mysql/store_fixture.hpp"
#include "support/on_each_server.hpp"

#include <boost/asio/use_future.hpp>

#include <memory>

namespace holdfast::mysql {
namespace {

using support::eventually;

/// Its date is moved.
class MysqlDate : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            server_ = std::make_unique<support::mariadb_server>(
                support::mariadb(), support::mariadb_server::options{.own_clock = true});
            make_tables_at(*server_);
        });
    }
    client make_client(holdfast::options more = {}) const {
        return client_of(reaching(*server_), std::move(more));
    }
    std::unique_ptr<support::mariadb_server> server_;
};

TEST_F(MysqlDate, AStepForwardIsALossThatIsToldWithTheNextRenewal) {
    client home = make_client({.lease_time = 3s}), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = taken(lock);
    server_->step_clock(long_lease);
    const lease next = taken(same);
    EXPECT_GT(next.fencing_token(), held.fencing_token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(next.owns_lock());
}

TEST_F(MysqlDate, AfterAStepBackTokensGrowAndWhatIsReleasedCanBeTaken) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    lease held = taken(lock);
    server_->step_clock(-long_lease);
    EXPECT_FALSE(same.try_lock());
    EXPECT_TRUE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_GT(taken(same).fencing_token(), held.fencing_token());
}

/// GET_LOCK waits until a date, which is an hour away then.
TEST_F(MysqlDate, TheBellIsOnlyAHintWhenTheDateIsSteppedBack) {
    const holdfast::options seldom{.poll_bound = std::chrono::hours{1}};
    client home = make_client(seldom), other = make_client(seldom);
    mutex lock{home, "stock"}, same{other, "stock"};
    session stranger{*server_};
    const std::string bell = bell_of(support::mariadb_server::schema, "holdfast_lock", "stock");
    ASSERT_EQ(stranger.value("SELECT GET_LOCK('" + bell + "',0)"), "1") << "and it never rings";
    lock.lock();
    std::future<lease> next = same.async_lock(boost::asio::use_future);
    ASSERT_TRUE(eventually([&] {
        return server_->value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") == "1";
    }));
    server_->step_clock(-long_lease);
    lock.unlock();
    EXPECT_TRUE(support::soon(std::move(next)).owns_lock());
}

} // namespace
} // namespace holdfast::mysql
