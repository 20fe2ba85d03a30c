// SPDX-License-Identifier: Apache-2.0
#include "mysql/store_fixture.hpp"

#include <deque>

namespace holdfast::mysql {
namespace {

class MysqlRenewal : public on_store {
protected:
    std::string end_of(const std::string& name) {
        return operate().value("SELECT expires FROM " + in_schema.locks +
                               " WHERE name=" + hex(name));
    }
    bool is_renewed(const std::string& name) {
        const std::string before = end_of(name);
        return support::eventually([&] { return end_of(name) > before; });
    }
};

TEST_F(MysqlRenewal, ARowLockedBySomebodyDoesNotDelayOtherRenewals) {
    client home = make_client({.lease_time = 3s});
    std::deque<mutex> locks;
    for (int i = 0; i < 20; ++i)
        locks.emplace_back(home, name_.text + std::to_string(i)).lock();
    session other{server()};
    other.run("START TRANSACTION");
    other.run("SELECT 1 FROM " + in_schema.locks + " WHERE name=" + hex(name_.text + "7") +
              " FOR UPDATE");
    EXPECT_TRUE(is_renewed(name_.text + "6"));
    EXPECT_TRUE(is_renewed(name_.text + "8"));
    EXPECT_TRUE(locks[7].remaining_lease()) << "it is ours while its lease lasts";
    other.run("COMMIT");
    EXPECT_TRUE(is_renewed(name_.text + "7"));
    for (mutex& each : locks)
        each.unlock();
}

TEST_F(MysqlRenewal, WhatSomebodyTookIsLost) {
    client home = make_client({.lease_time = 1s});
    mutex lock{home, name_};
    lock.lock();
    operate().run("UPDATE " + in_schema.locks +
                  " SET owner='somebody' WHERE name=" + hex(name_.text));
    EXPECT_TRUE(support::eventually([&] { return !lock.remaining_lease(); }));
    error_code ec;
    lock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
}

TEST_F(MysqlRenewal, OfReadersAndPermitsTellsTheirRows) {
    client home = make_client({.lease_time = 2s});
    shared_mutex lock{home, name_};
    lock.lock_shared();
    const std::string reader = "SELECT MAX(expires) FROM " + in_schema.holds +
                               " WHERE name=" + hex(name_.text) + " AND kind=0";
    const std::string before = operate().value(reader);
    EXPECT_TRUE(support::eventually([&] { return operate().value(reader) > before; }));
    lock.unlock_shared();
}

} // namespace
} // namespace holdfast::mysql
