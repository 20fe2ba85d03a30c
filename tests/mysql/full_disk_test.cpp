// SPDX-License-Identifier: Apache-2.0
// A server that has no room for what is to be written.
#include "mysql/store_fixture.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/thrown.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using support::eventually;
using ::testing::HasSubstr;

/// It answers writes of one table as a full one does. The locks' table has a trigger that does so
/// at will: nothing else is full.
class MysqlFullTable : public on_store {
protected:
    void SetUp() override {
        on_store::SetUp();
        if (!IsSkipped())
            relieve();
    }
    void TearDown() override {
        if (!IsSkipped())
            relieve();
    }

    void fill(const std::string& what = "UPDATE ON holdfast_lock", unsigned error = 1114,
              const std::string& words = "The table ''holdfast_lock'' is full") {
        server().sql("CREATE OR REPLACE TRIGGER full BEFORE " + what +
                     " FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO=" +
                     std::to_string(error) + ",MESSAGE_TEXT='" + words + "'");
    }
    void relieve() { server().sql("DROP TRIGGER IF EXISTS full"); }

    client impatient() { return make_client({.unavailable_patience = 0ms}); }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};

TEST_F(MysqlFullTable, GrantsNothingAndTheServersWordsAreTold) {
    struct answer_of_server {
        unsigned error;
        const char* words;
    };
    const answer_of_server all[] = {
        {1114, "The table ''holdfast_lock'' is full"},
        {1021, "Disk full (/data/holdfast_lock.ibd); waiting for someone to free some space"},
        {1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"},
        {1026, "Error writing file ''binlog'' (Errcode: 28 \"No space left on device\")"}};
    client home = impatient();
    mutex lock{home, name_};
    for (const auto& [error, words] : all) {
        fill("UPDATE ON holdfast_lock", error, words);
        const support::thrown told = support::thrown_by([&] { (void)lock.try_lock(); });
        EXPECT_EQ(told.code, make_error_code(store_errc::disk_trouble)) << told.text;
        EXPECT_EQ(told.code, errc::unreachable);
        EXPECT_THAT(told.text, HasSubstr("error " + std::to_string(error) + ": "));
        EXPECT_FALSE(is_held());
    }
    relieve();
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_F(MysqlFullTable, LetsNoReaderIn) {
    client home = impatient(), other = make_client();
    shared_mutex lock{home, name_}, same{other, name_};
    fill("INSERT ON " + in_schema.holds);
    const support::thrown told = support::thrown_by([&] { (void)lock.try_lock_shared(); });
    EXPECT_TRUE(told.code);
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    relieve();
    ASSERT_TRUE(same.try_lock()) << "there is no reader";
    same.unlock();
}

TEST_F(MysqlFullTable, GrantsNoPermits) {
    client home = impatient(), other = make_client();
    leased_semaphore seats{home, name_}, same{other, name_};
    seats.set_permits(2);
    fill("INSERT ON " + in_schema.holds);
    const support::thrown told = support::thrown_by([&] { (void)seats.try_acquire(2); });
    EXPECT_TRUE(told.code);
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    relieve();
    EXPECT_EQ(same.available_permits(), 2);
}

TEST_F(MysqlFullTable, ARenewalThatFailsIsNoLoss) {
    client home = make_client({.lease_time = 3s, .observer = told_});
    fenced_mutex lock{home, name_};
    const lease held = taken(lock);
    fill();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::renewal_failed) > 0; }));
    EXPECT_TRUE(held.owns_lock());
    const support::told what = *told_->last(event_kind::renewal_failed);
    EXPECT_THAT(what.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    EXPECT_GT(what.length, 0ms) << "of its term";
    relieve();
    const std::string end = of_row("expires");
    EXPECT_TRUE(eventually([&] { return of_row("expires") > end; }));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(told_->count(event_kind::lost), 0U);
}

TEST_F(MysqlFullTable, AHoldEndsWithItsTermIfThereIsNoRoomUntilThen) {
    client home = make_client({.lease_time = 1s, .observer = told_}), other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = taken(lock);
    fill();
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::term_ended);
    relieve();
    EXPECT_TRUE(same.try_lock_for(support::far_too_long / 2));
    EXPECT_GT(same.fencing_token(), held.fencing_token());
    same.unlock();
}

TEST_F(MysqlFullTable, AReleaseThatFailsIsRepeated) {
    client home = make_client({.release_patience = 100ms}), other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    lease held = taken(lock);
    fill();
    error_code failed;
    held.unlock(failed);
    EXPECT_EQ(failed, errc::unreachable) << failed.message();
    EXPECT_TRUE(is_held());
    relieve();
    ASSERT_TRUE(same.try_lock_for(support::far_too_long / 2)) << "the lease is as long";
    same.unlock();
}

TEST_F(MysqlFullTable, AReleaseThatFailsToTheLastEndsWithTheLease) {
    client home = make_client({.lease_time = 1s, .release_patience = 100ms, .observer = told_}),
           other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    lease held = taken(lock);
    fill();
    error_code failed;
    held.unlock(failed);
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::release_failed) > 0; }));
    EXPECT_THAT(told_->last(event_kind::release_failed)->text, HasSubstr("error 1114"));
    ASSERT_TRUE(eventually([&] { return !is_held(); })) << "nothing prolongs it";
    relieve();
    ASSERT_TRUE(same.try_lock_for(support::far_too_long / 2));
    same.unlock();
}

/// Really full: all tables are in files that do not grow. It may not come to an end by itself any
/// more, and is killed.
class MysqlFullDisk : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { server_.emplace(); });
        if (!server_)
            return;
        server_->shut_down();
        const auto first = std::filesystem::file_size(server_->data_folder() / "ibdata1") >> 20;
        server_->restart(
            {"--innodb-file-per-table=OFF",
             "--innodb-data-file-path=ibdata1:" + std::to_string(first) + "M;ibdata2:32M"});
        make_tables_at(*server_);
    }

    void fill() {
        server_->sql("CREATE TABLE filler (bytes LONGBLOB) ENGINE=InnoDB");
        for (const char* each : {"100000", "7000", "100"})
            while (has_room_for(each)) {
            }
    }
    std::optional<support::mariadb_server> server_;

private:
    bool has_room_for(const std::string& bytes) {
        constexpr unsigned full = 1114;
        try {
            server_->sql("INSERT INTO filler VALUES(REPEAT('x'," + bytes + "))");
        } catch (const support::sql_error& why) {
            EXPECT_EQ(why.code, full) << why.what();
            return false;
        }
        return true;
    }
};

TEST_F(MysqlFullDisk, GrantsNothingAndSaysSo) {
    client home = client_of(reaching(*server_), {.unavailable_patience = 0ms});
    fill();
    constexpr int rows_of_some_pages = 1000;
    const std::string long_name(200, 'x');
    support::thrown told;
    for (int i = 0; i < rows_of_some_pages && !told.code; ++i) {
        fenced_mutex lock{home, long_name + std::to_string(i)};
        told = support::thrown_by([&] {
            (void)lock.try_lock();
            lock.unlock();
        });
    }
    EXPECT_EQ(told.code, make_error_code(store_errc::disk_trouble)) << told.text;
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
}

} // namespace
} // namespace holdfast::mysql
