// SPDX-License-Identifier: Apache-2.0
// Another server takes the place of the one that granted: what it does not have is lost at once,
// and nobody holds it beside another for longer.
#include "mysql/store_fixture.hpp"
#include "support/galera_nodes.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <memory>

namespace holdfast::mysql {
namespace {

using support::eventually;

/// Two servers that do not know of each other: one takes the place of the other, and misses what it
/// granted last.
class MysqlFailover : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            first_ = std::make_unique<support::mariadb_server>();
            second_ = std::make_unique<support::mariadb_server>();
            make_tables_at(*first_);
            make_tables_at(*second_);
        });
    }
    client make_client() const {
        options how = reaching(*first_);
        how.unix_socket.clear();
        how.servers = {{"127.0.0.1", first_->port()}, {"127.0.0.1", second_->port()}};
        how.backoff_max = 100ms;
        return client_of(how, {.lease_time = long_lease, .observer = told_});
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::unique_ptr<support::mariadb_server> first_, second_;
};

TEST_F(MysqlFailover, AGrantThatTheNextServerMissesIsLostAtOnce) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = taken(lock);
    first_->stop();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    ASSERT_EQ(told_->count(event_kind::lost), 1U);
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::refused);
    EXPECT_GT(taken(same).fencing_token(), held.fencing_token())
        << "tokens grow over a server that knows nothing of the last one";
}

TEST_F(MysqlFailover, AGrantThatTheNextServerHasIsKept) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = taken(lock);
    const auto row = first_->sql("SELECT HEX(owner),token FROM " + in_schema.locks).at(0);
    second_->sql("INSERT INTO " + in_schema.locks +
                 " (name,owner,expires,token) VALUES('stock',UNHEX('" + row.at(0).value() +
                 "'),UTC_TIMESTAMP(6)+INTERVAL 1 HOUR," + row.at(1).value() + ")");
    first_->stop();
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::moved) > 0; }));
    EXPECT_FALSE(same.try_lock_for(1s));
    EXPECT_TRUE(held.owns_lock());
}

class AGaleraNode : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { nodes_ = std::make_unique<support::galera_nodes>(); });
        if (nodes_)
            make_tables_at((*nodes_)[0]);
    }
    client make_client() const {
        options how = reaching((*nodes_)[0]);
        how.unix_socket.clear();
        how.servers = {{"127.0.0.1", (*nodes_)[0].port()}, {"127.0.0.1", (*nodes_)[1].port()}};
        how.backoff_max = 100ms;
        return client_of(how, {.lease_time = long_lease, .observer = told_});
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::unique_ptr<support::galera_nodes> nodes_;
};

TEST_F(AGaleraNode, ThatLeavesTakesNoLockAlong) {
    client home = make_client();
    fenced_mutex lock{home, "stock"};
    const lease held = taken(lock);
    nodes_->leave(0);
    client other = make_client();
    fenced_mutex same{other, "stock"};
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::reconnected) > 0; }));
    EXPECT_FALSE(same.try_lock_for(1s));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(told_->count(event_kind::lost), 0U);
}

} // namespace
} // namespace holdfast::mysql
