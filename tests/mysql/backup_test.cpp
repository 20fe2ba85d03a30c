// SPDX-License-Identifier: Apache-2.0
// A backup locks the tables against writes: calls get the error `try_again`, and never the result
// "busy".
#include "mysql/store_fixture.hpp"
#include "support/recorder.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

class MysqlBackup : public on_store, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        on_store::SetUp();
        if (is_stage() && server().value("SELECT VERSION() LIKE '%MariaDB%'") != "1")
            GTEST_SKIP() << "only MariaDB has stages of a backup";
    }
    void begin_backup() {
        by_.emplace(server().connect());
        if (is_stage())
            for (const char* const earlier : {"START", "FLUSH", "BLOCK_DDL"})
                by_->run(std::string{"BACKUP STAGE "} + earlier);
        by_->run(GetParam());
    }
    void end_backup() { by_->run(is_stage() ? "BACKUP STAGE END" : "UNLOCK TABLES"); }

    static void expect_try_again(const std::function<void()>& call) {
        const support::thrown told = support::thrown_by(call);
        EXPECT_EQ(told.code, make_error_code(store_errc::try_again)) << told.text;
    }
    /// Expects the error of a change. If only the commit is blocked, the outcome is unknown, but
    /// the text says why.
    static void expect_blocked(const std::function<void()>& call) {
        if (!is_stage())
            return expect_try_again(call);
        const support::thrown told = support::thrown_by(call);
        EXPECT_EQ(told.code, make_error_code(errc::outcome_unknown)) << told.text;
        EXPECT_THAT(told.text, ::testing::HasSubstr("BACKUP STAGE BLOCK_COMMIT"));
    }
    client impatient() { return make_client({.unavailable_timeout = 0ms}); }

private:
    static bool is_stage() { return std::string_view{GetParam()}.starts_with("BACKUP STAGE"); }

    std::optional<support::sql_connection> by_;
};

TEST_P(MysqlBackup, AttemptsOfEachKindReportTryAgain) {
    for (const bool is_new : {true, false}) {
        client home = impatient();
        for (const kind_of_lock& kind : kinds_of_lock) {
            const std::string name = name_.text + '-' + kind.name;
            SCOPED_TRACE(name);
            if (kind.take_and_release == take_permit)
                leased_semaphore{home, name}.set_permits(1);
            if (!is_new) { // so that the client knows its rights, and the row is there
                EXPECT_TRUE(kind.take_and_release(home, name));
            }
            begin_backup();
            expect_try_again([&] { (void)kind.take_and_release(home, name); });
            end_backup();
            EXPECT_TRUE(kind.take_and_release(home, name));
        }
    }
}

TEST_P(MysqlBackup, ChangesOfCountersAndForcedReleasesReportTryAgain) {
    client home = impatient();
    latch gate{home, name_.text + "-latch"};
    leased_semaphore seats{home, name_.text + "-seats"};
    mutex lock{home, name_};
    gate.try_set_count(1);
    seats.set_permits(2);
    const lease held = support::soon(lock.async_lock(boost::asio::use_future));
    begin_backup();
    expect_blocked([&] { gate.count_down(); });
    expect_blocked([&] { seats.set_permits(3); });
    expect_blocked([&] { (void)home.force_unlock(name_.text); });
    EXPECT_EQ(gate.count(), 1);
    EXPECT_EQ(seats.available_permits(), 2);
    EXPECT_TRUE(home.inspect(name_));
    end_backup();
    EXPECT_TRUE(is_held());
    EXPECT_TRUE(gate.count_down());
}

TEST_P(MysqlBackup, AWaitEndsWithTheBackup) {
    client home = make_client();
    mutex lock{home, name_};
    begin_backup();
    auto taken = meanwhile([&] {
        lock.lock();
        lock.unlock();
        return true;
    });
    EXPECT_TRUE(support::eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE LIKE 'Waiting for%'") != "0";
    }));
    end_backup();
    EXPECT_TRUE(support::soon(std::move(taken)));
}

INSTANTIATE_TEST_SUITE_P(
    EachWay, MysqlBackup,
    ::testing::Values("FLUSH TABLES WITH READ LOCK", "BACKUP STAGE BLOCK_COMMIT",
                      "LOCK TABLES holdfast_lock READ, holdfast_lock_hold READ, "
                      "holdfast_lock_counter READ, holdfast_lock_request READ"));

} // namespace
} // namespace holdfast::mysql
