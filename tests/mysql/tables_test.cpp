// SPDX-License-Identifier: Apache-2.0
// What an operator does to the tables, and to how statements are understood.
#include "mysql/store_fixture.hpp"

namespace holdfast::mysql {
namespace {

using support::eventually;

class MysqlTables : public on_store {};

/// As an operator who begins anew: what is held is not known any more.
TEST_F(MysqlTables, WhatIsHeldInOnesThatWereMadeAnewIsLost) {
    options how = reaching(server());
    how.table = "made_anew";
    client home = client_of(how, {.lease_time = 1s}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = taken(lock);
    for (const char* each : {"", "_hold", "_counter", "_request", "_identity"})
        server().sql(std::string{"DROP TABLE made_anew"} + each);
    EXPECT_THROW((void)same.try_lock(), boost::system::system_error);
    (void)other.set_up();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_GT(taken(same).fencing_token(), held.fencing_token());
}

TEST_F(MysqlTables, AnSqlModeOfTheServerThatAssignsAllAtOnceDoesNotMatter) {
    server().sql("SET GLOBAL sql_mode='SIMULTANEOUS_ASSIGNMENT'");
    client home = make_client(), other = make_client();
    server().sql("SET GLOBAL sql_mode=DEFAULT");
    fenced_mutex lock{home, name_}, same{other, name_};
    lock.lock();
    EXPECT_FALSE(same.try_lock());
    EXPECT_TRUE(is_held());
    EXPECT_EQ(of_row("token"), std::to_string(lock.fencing_token()));
    lock.unlock();
    EXPECT_TRUE(same.try_lock());
    same.unlock();
}

} // namespace
} // namespace holdfast::mysql
