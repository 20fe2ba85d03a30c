// SPDX-License-Identifier: Apache-2.0
// Database users who lack a privilege: the error names the privilege, and the refused call leaves
// no data behind.
#include "mysql/store_fixture.hpp"
#include "support/recorder.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::HasSubstr;

/// Database user with some rights on all tables of the schema. The destructor drops the user.
class user_with {
public:
    user_with(support::mariadb_server& at, const std::string& name, const std::string& rights)
        : at_{at}
        , how_{reaching(at)} {
        how_.user = name;
        at_.sql("CREATE USER " + name + "@'%' IDENTIFIED BY '" + support::mariadb_server::password +
                "'");
        at_.sql("GRANT " + rights + " ON " + how_.schema + ".* TO " + name + "@'%'");
    }
    user_with(const user_with&) = delete;
    ~user_with() { at_.sql("DROP USER " + how_.user + "@'%'"); }

    client make_client() const { return client_of(how_, {.unavailable_timeout = 0ms}); }

private:
    support::mariadb_server& at_;
    options how_;
};

class MysqlRights : public on_store {
protected:
    /// The holds, queue places and marks of this name that have not expired.
    std::string left_behind(const std::string& name) {
        const std::string here = " WHERE name=" + hex(name) + " AND expires>UTC_TIMESTAMP(6)";
        return server().value("SELECT (SELECT COUNT(*) FROM " + in_schema.locks + here +
                              ")+(SELECT COUNT(*) FROM " + in_schema.holds + here + ")");
    }
};

const std::vector<std::string> every_right{"SELECT", "INSERT", "UPDATE", "DELETE"};

std::string all_but(const std::string& missing) {
    std::string all;
    for (const std::string& each : every_right)
        if (each != missing)
            all.append(all.empty() ? "" : ", ").append(each);
    return all;
}

TEST_F(MysqlRights, ALockWithoutARightIsRefusedAndLeavesNothingBehind) {
    client home = make_client();
    for (const std::string& missing : every_right) {
        const user_with some{server(), "lacks_" + missing, all_but(missing)};
        client other = some.make_client();
        for (const kind_of_lock& kind : kinds_of_lock) {
            if (missing == "DELETE" && !kind.needs_delete)
                continue;
            const std::string name = name_.text + '-' + kind.name + '-' + missing;
            SCOPED_TRACE(name);
            if (kind.take_and_release == take_permit)
                leased_semaphore{home, name}.set_permits(1);
            const support::thrown no =
                support::thrown_by([&] { (void)kind.take_and_release(other, name); });
            EXPECT_EQ(no.code, store_errc::no_permission) << no.text;
            EXPECT_THAT(no.text, HasSubstr(missing + " command denied"));
            EXPECT_EQ(left_behind(name), "0");
            EXPECT_TRUE(kind.take_and_release(home, name));
        }
    }
}

TEST_F(MysqlRights, ACounterWithoutARightIsRefusedAndKeepsItsValue) {
    client home = make_client();
    for (const std::string& missing : every_right) {
        const user_with some{server(), "counts_not_" + missing, all_but(missing)};
        client other = some.make_client();
        const std::string name = name_.text + '-' + missing;
        SCOPED_TRACE(name);
        latch open{other, name + "-new"}, gate{other, name + "-latch"};
        leased_semaphore seats{other, name + "-seats"};
        latch{home, name + "-latch"}.try_set_count(1);
        leased_semaphore{home, name + "-seats"}.set_permits(2);
        const auto expect_refused = [&](const std::function<void()>& call) {
            const support::thrown no = support::thrown_by(call);
            EXPECT_EQ(no.code, store_errc::no_permission) << no.text;
            EXPECT_THAT(no.text, HasSubstr(missing + " command denied"));
        };
        expect_refused([&] { (void)open.try_set_count(1); });
        expect_refused([&] { gate.count_down(); });
        expect_refused([&] { seats.set_permits(5); });
        EXPECT_EQ((latch{home, name + "-latch"}.count()), 1);
        EXPECT_EQ((leased_semaphore{home, name + "-seats"}.available_permits()), 2);
        EXPECT_TRUE((latch{home, name + "-new"}.try_set_count(1)));
    }
}

TEST_F(MysqlRights, ForceUnlockWithoutTheRightReportsNoPermission) {
    client home = make_client();
    mutex lock{home, name_};
    const lease held = support::soon(lock.async_lock(boost::asio::use_future));
    const user_with reader{server(), "force_reader", "SELECT"};
    client other = reader.make_client();
    const support::thrown no = support::thrown_by([&] { (void)other.force_unlock(name_.text); });
    EXPECT_EQ(no.code, store_errc::no_permission) << no.text;
    EXPECT_NE(no.text.find("UPDATE command denied"), std::string::npos) << no.text;
    EXPECT_NE(no.text.find("grant SELECT, INSERT, UPDATE, DELETE on"), std::string::npos)
        << no.text;
    EXPECT_TRUE(is_held());
}

TEST_F(MysqlRights, ReadersPermitsAndLatchesWithoutTheRightReportNoPermission) {
    client home = make_client();
    leased_semaphore{home, name_.text + "-seats"}.set_permits(2);
    const user_with nobody{server(), "no_inserter", "SELECT, UPDATE, DELETE"};
    client other = nobody.make_client();
    shared_mutex lock{other, name_};
    leased_semaphore seats{other, name_.text + "-seats"};
    latch gate{other, name_.text + "-latch"};
    EXPECT_EQ(support::code_of([&] { (void)lock.try_lock_shared(); }), store_errc::no_permission);
    EXPECT_EQ(support::code_of([&] { (void)seats.try_acquire(); }), store_errc::no_permission);
    EXPECT_EQ(support::code_of([&] { (void)gate.try_set_count(1); }), store_errc::no_permission);
}

TEST_F(MysqlRights, TheDoctorNamesEachMissingRight) {
    client home = make_client();
    (void)home.doctor({"doctor"}); // inserts the row of the trial lock
    const user_with nobody{server(), "no_creator", "SELECT, UPDATE, DELETE"};
    const diagnosis told = nobody.make_client().doctor({"doctor"});
    const auto found = std::ranges::find(told.findings, std::string{"rights"}, &finding::topic);
    ASSERT_NE(found, told.findings.end());
    EXPECT_EQ(found->how_bad, severity::danger);
    EXPECT_EQ(found->what, "This user lacks these rights: INSERT on `holdfast_lock`, "
                           "INSERT on `holdfast_lock_hold`, INSERT on `holdfast_lock_counter`, "
                           "INSERT on `holdfast_lock_request`.");
}

} // namespace
} // namespace holdfast::mysql
