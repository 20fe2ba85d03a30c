// SPDX-License-Identifier: Apache-2.0
#include "mysql/store_fixture.hpp"
#include "support/thrown.hpp"

#include <thread>

namespace holdfast::mysql {
namespace {

class MysqlStore : public on_store {};

TEST_F(MysqlStore, ALockIsTakenAndReleased) {
    client home = make_client();
    mutex lock{home, name_};
    lock.lock();
    EXPECT_TRUE(is_held());
    lock.unlock();
    EXPECT_FALSE(is_held());
}

TEST_F(MysqlStore, WhoWaitsHasItWhenItIsReleased) {
    client home = make_client(), other = make_client();
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = meanwhile([&] {
        theirs.lock();
        theirs.unlock();
        return true;
    });
    EXPECT_FALSE(theirs.try_lock());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlStore, AReadOnlyServerGrantsNothing) {
    client home = make_client({.unavailable_patience = 100ms});
    mutex lock{home, name_};
    lock.lock();
    lock.unlock();
    server().sql("SET GLOBAL read_only=1");
    try {
        (void)lock.try_lock();
        ADD_FAILURE() << "it was granted, or found busy";
    } catch (const boost::system::system_error& why) {
        EXPECT_EQ(why.code(), errc::unreachable);
    }
    server().sql("SET GLOBAL read_only=0");
    EXPECT_FALSE(is_held());
    ASSERT_TRUE(support::eventually([&] {
        try {
            return lock.try_lock();
        } catch (const boost::system::system_error&) {
            return false;
        }
    }));
    lock.unlock();
}

TEST_F(MysqlStore, NonStrictModeDoesNotMergeTwoNames) {
    server().sql("SET GLOBAL sql_mode=''");
    client home = make_client();
    const std::string longest(255, 'x');
    mutex fits{home, longest};
    fits.lock();
    EXPECT_THROW((mutex{home, longest + "y"}), boost::system::system_error);
    fits.unlock();
    server().sql("SET GLOBAL sql_mode=DEFAULT");
}

TEST_F(MysqlStore, DaylightSavingDoesNotMatter) {
    client home = make_client();
    mutex lock{home, name_};
    lock.lock();
    server().sql("SET GLOBAL time_zone='+01:00'");
    client other = make_client();
    mutex theirs{other, name_};
    EXPECT_FALSE(theirs.try_lock());
    server().sql("SET GLOBAL time_zone='SYSTEM'");
    lock.unlock();
    EXPECT_TRUE(theirs.try_lock());
    theirs.unlock();
}

TEST_F(MysqlStore, TokensGrowOverClientsAndRestarts) {
    client home = make_client(), other = make_client();
    fenced_mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    const std::uint64_t first = ours.fencing_token();
    ours.unlock();
    theirs.lock();
    EXPECT_GT(theirs.fencing_token(), first);
    theirs.unlock();
}

TEST_F(MysqlStore, WithoutTablesTheErrorHasTheStatementsThatMakeThem) {
    options how = reaching(server());
    how.table = "not_there";
    client home = client_of(how);
    mutex lock{home, name_};
    try {
        lock.lock();
        ADD_FAILURE() << "there is no such table";
    } catch (const boost::system::system_error& why) {
        EXPECT_EQ(why.code(), store_errc::not_set_up);
        EXPECT_NE(std::string{why.what()}.find("CREATE TABLE IF NOT EXISTS `not_there_hold`"),
                  std::string::npos);
    }
}

TEST_F(MysqlStore, WithoutTablesReadersAndPermitsAreToldToo) {
    options how = reaching(server());
    how.table = "not_there";
    client home = client_of(how, {.unavailable_patience = 0ms});
    shared_mutex lock{home, name_};
    fair_mutex line{home, name_};
    leased_semaphore seats{home, name_};
    EXPECT_EQ(support::code_of([&] { (void)lock.try_lock_shared(); }), store_errc::not_set_up);
    EXPECT_EQ(support::code_of([&] { (void)line.try_lock(); }), store_errc::not_set_up);
    EXPECT_EQ(support::code_of([&] { (void)seats.try_acquire(); }), store_errc::not_set_up);
}

TEST_F(MysqlStore, IsSetUpOnce) {
    options how = reaching(server());
    how.table = "set_up_here";
    client home = client_of(how);
    EXPECT_NE(home.set_up().findings.at(0).what.find("5 tables"), std::string::npos);
    EXPECT_NE(home.set_up().findings.at(0).what.find("already"), std::string::npos);
    mutex lock{home, name_};
    lock.lock();
    lock.unlock();
}

TEST_F(MysqlStore, WhoMayNotMakeAllTablesMakesNone) {
    options how = reaching(server());
    how.table = "made_by_some";
    how.user = "maker";
    const std::string maker = how.user + "@'%'", in_schema = " ON " + how.schema + ".* ";
    server().sql("CREATE USER " + maker + " IDENTIFIED BY 'secret'");
    const auto grant = [&](const std::string& rights) {
        server().sql("GRANT " + rights + in_schema + "TO " + maker);
    };
    for (const char* too_few : {"CREATE, INSERT", "CREATE, SELECT", "SELECT, INSERT"}) {
        grant(too_few);
        client home = client_of(how);
        const support::thrown no = support::thrown_by([&] { home.set_up(); });
        EXPECT_EQ(no.code, store_errc::no_permission) << too_few;
        EXPECT_NE(no.text.find("takes the rights CREATE, SELECT and INSERT in"), std::string::npos)
            << no.text;
        EXPECT_EQ(no.text.find("; grant"), std::string::npos) << "which are those of a lock";
        EXPECT_EQ(server().value("SELECT COUNT(*) FROM information_schema.tables WHERE table_name "
                                 "LIKE 'made_by_some%'"),
                  "0")
            << too_few;
        server().sql("REVOKE " + std::string{too_few} + in_schema + "FROM " + maker);
    }
    grant("CREATE, SELECT, INSERT");
    client home = client_of(how);
    EXPECT_NE(home.set_up().findings.at(0).what.find("5 tables"), std::string::npos);
    server().sql("DROP USER " + maker);
}

TEST_F(MysqlStore, TheDoctorFindsNothingDangerous) {
    client home = make_client();
    const diagnosis told = home.doctor({"doctor"});
    for (const finding& each : told.findings)
        EXPECT_NE(each.how_bad, severity::danger) << each.topic << ": " << each.what;
    const auto says = [&](const char* what) {
        return std::ranges::any_of(told.findings, [&](const finding& each) {
            return each.what.find(what) != std::string::npos;
        });
    };
    EXPECT_TRUE(says("taken, renewed and released"));
    EXPECT_TRUE(says("called by user locks"));
    EXPECT_TRUE(says("innodb_flush_log_at_trx_commit is 2"));
}

TEST_F(MysqlStore, SaysWhoHoldsIt) {
    client home = make_client({.label = "till 3"});
    mutex lock{home, name_};
    lock.lock();
    const std::optional<lock_state> told = home.inspect(name_);
    ASSERT_TRUE(told);
    ASSERT_EQ(told->owners.size(), 1U);
    ASSERT_TRUE(told->owners[0].client);
    EXPECT_EQ(told->owners[0].client->label, "till 3");
    EXPECT_TRUE(told->owners[0].is_holdfast);
    EXPECT_GT(told->token, 0U);
    lock.unlock();
}

} // namespace
} // namespace holdfast::mysql
