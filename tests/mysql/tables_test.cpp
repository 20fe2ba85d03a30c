// SPDX-License-Identifier: Apache-2.0
// What an operator does to the tables, and to how statements are understood.
#include "mysql/store_fixture.hpp"
#include "support/recorder.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using support::eventually;
using ::testing::HasSubstr;

class MysqlTables : public on_store {
protected:
    void drop(const std::string& table) {
        for (const char* each : {"", "_hold", "_counter", "_request", "_identity"})
            server().sql("DROP TABLE " + table + each);
    }
};

/// As an operator who begins anew: what is held is not known any more.
TEST_F(MysqlTables, WhatIsHeldInOnesThatWereMadeAnewIsLost) {
    options how = reaching(server());
    how.table = "made_anew";
    client home = client_of(how, {.lease_time = 1s}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = taken(lock);
    drop("made_anew");
    EXPECT_THROW((void)same.try_lock(), boost::system::system_error);
    (void)other.set_up();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_GT(taken(same).fencing_token(), held.fencing_token());
}

/// By an operator's mistake: tables are there again when somebody notices.
TEST_F(MysqlTables, ThatAreDroppedAreToldToWhoHoldsAndWhoWaits) {
    options how = reaching(server());
    how.table = "dropped";
    const auto told = std::make_shared<support::recorder>();
    client home = client_of(how, {.lease_time = 1s, .observer = told}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = taken(lock);
    auto waited = meanwhile([&] { return support::thrown_by([&] { same.lock(); }); });
    ASSERT_TRUE(eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") != "0";
    }));
    drop("dropped");
    const support::thrown why = support::soon(std::move(waited));
    EXPECT_EQ(why.code, make_error_code(store_errc::not_set_up)) << why.text;
    EXPECT_THAT(why.text, HasSubstr("CREATE TABLE IF NOT EXISTS `dropped`"));
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.owns_lock());
    ASSERT_GT(told->count(event_kind::renewal_failed), 0U);
    EXPECT_THAT(told->last(event_kind::renewal_failed)->text, HasSubstr("dropped' doesn't exist"));
    EXPECT_EQ(told->count(event_kind::lost), 1U);
    (void)other.set_up();
    EXPECT_GT(taken(same).fencing_token(), held.fencing_token());
}

/// And somebody waits, who has it then.
TEST_F(MysqlTables, ThatAreMadeAnewAreNoticedByWhoWaits) {
    options how = reaching(server());
    how.table = "emptied";
    client home = client_of(how, {.lease_time = 1s}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = taken(lock);
    auto waited = meanwhile([&] { return taken(same); });
    ASSERT_TRUE(eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") != "0";
    }));
    server().sql("TRUNCATE TABLE emptied");
    const lease next = support::soon(std::move(waited));
    EXPECT_GT(next.fencing_token(), held.fencing_token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(next.owns_lock());
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
