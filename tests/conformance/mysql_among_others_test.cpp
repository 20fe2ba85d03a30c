// SPDX-License-Identifier: Apache-2.0
// Locks on Redis, MariaDB and ZooKeeper together: a quorum of the three stores, and a multi_mutex
// with one member on each.
#include "store/mysql/sql.hpp"
#include "support/eventually.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/options.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::conformance {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

/// Servers that all tests of this file share, because starting them takes longer than a test.
struct three_servers {
    three_servers() {
        for (const std::string& each : mysql::making(mysql::tables{"holdfast_lock"}))
            database.sql(each);
    }
    void all_there() {
        redis.resume();
        database.resume();
        keeper.resume();
    }
    support::redis_server redis{};
    support::mariadb_server database{};
    /// Its sessions last up to 20 s, so they last as long as the leases.
    support::zookeeper_server keeper{support::zookeeper(), {.tick = std::chrono::seconds{1}}};
};

class DifferentStores : public ::testing::Test {
protected:
    static constexpr duration lease_length = 9s;
    const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();

    static void SetUpTestSuite() { mysql::add_schemes(); }
    static void TearDownTestSuite() { servers().reset(); }
    void SetUp() override {
        support::make_or_skip([] {
            if (!servers())
                servers() = std::make_unique<three_servers>();
        });
    }
    void TearDown() override {
        if (servers())
            servers()->all_there();
    }
    static three_servers& at() { return *servers(); }

    static client client_at(std::string url, std::shared_ptr<observer> tells = nullptr) {
        options how;
        how.url = std::move(url);
        how.lease_time = lease_length;
        how.observer = std::move(tells);
        return client{std::move(how)};
    }

    /// A program: a client of each server.
    struct program {
        std::shared_ptr<observer> tells{};
        client redis = client_at(at().redis.url(), tells);
        client database = client_at(at().database.url(), tells);
        client keeper = client_at(at().keeper.url(), tells);
    };

    bool is_held_at(client& which) const { return which.inspect(name_).has_value(); }
    std::size_t held_at(program& seen_by) const {
        return std::size_t{is_held_at(seen_by.redis)} + std::size_t{is_held_at(seen_by.database)} +
               std::size_t{is_held_at(seen_by.keeper)};
    }

private:
    static std::unique_ptr<three_servers>& servers() {
        static std::unique_ptr<three_servers> all;
        return all;
    }
};

/// Redis has just been started, and a restarted Redis may have forgotten: here it has not.
class QuorumOfDifferentStores : public DifferentStores {
protected:
    quorum_mutex lock_of(program& of) const {
        return quorum_mutex{{of.redis, of.database, of.keeper}, name_, {.nodes_remember = true}};
    }
    static bool has_votes(const lease& held, std::size_t wanted) {
        return eventually([&] { return quorum_mutex::votes(held).held == wanted; });
    }
    /// Whether it can be taken. Asks again while the nodes have not answered in time: each has 50
    /// ms, which are soon over on a busy machine.
    static bool has(quorum_mutex& wanted) {
        bool is_taken = true;
        EXPECT_TRUE(eventually([&] {
            try {
                is_taken = wanted.try_lock_for(1s);
                return true;
            } catch (const boost::system::system_error& why) {
                return why.code() != errc::unreachable;
            }
        }));
        return is_taken;
    }
    /// Stops one server for longer than a lease while the lock is held, and resumes it.
    template <typename Server>
    void one_is_away(Server& which) {
        program mine, others;
        quorum_mutex lock = lock_of(mine), same = lock_of(others);
        const lease held = soon(lock.async_lock(asio::use_future));
        ASSERT_TRUE(has_votes(held, 3));
        which.pause();
        EXPECT_TRUE(has_votes(held, 2)) << "the vote of who is away ends with its lease";
        EXPECT_TRUE(held.owns_lock());
        EXPECT_FALSE(has(same));
        which.resume();
        EXPECT_TRUE(has_votes(held, 3)) << "it is asked again";
        EXPECT_FALSE(has(same));
        EXPECT_TRUE(held.owns_lock());
    }
};

TEST_F(QuorumOfDifferentStores, OneHoldsItAndTheNextHasItAfterThat) {
    program mine, others;
    quorum_mutex lock = lock_of(mine), same = lock_of(others);
    lease held = soon(lock.async_lock(asio::use_future));
    ASSERT_TRUE(has_votes(held, 3));
    EXPECT_EQ(held_at(others), 3U);
    EXPECT_FALSE(has(same));
    std::future<lease> next = same.async_lock(asio::use_future);
    EXPECT_FALSE(support::is_ready(next));
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    lease theirs = soon(std::move(next));
    EXPECT_TRUE(theirs.owns_lock());
    theirs.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(eventually([&] { return held_at(mine) == 0; }));
}

TEST_F(QuorumOfDifferentStores, GoesOnWithoutRedis) {
    one_is_away(at().redis);
}
TEST_F(QuorumOfDifferentStores, GoesOnWithoutTheDatabase) {
    one_is_away(at().database);
}
TEST_F(QuorumOfDifferentStores, GoesOnWithoutZookeeper) {
    one_is_away(at().keeper);
}

TEST_F(QuorumOfDifferentStores, WhoeverHasOneOfThemDoesNotKeepItFromOthers) {
    program mine, others;
    mutex alone{others.database, name_};
    alone.lock();
    quorum_mutex lock = lock_of(mine);
    lease held = soon(lock.async_lock(asio::use_future));
    EXPECT_EQ(quorum_mutex::votes(held).held, 2U);
    alone.unlock();
    EXPECT_TRUE(has_votes(held, 3));
}

TEST_F(QuorumOfDifferentStores, EndsWhenTwoAreTakenAway) {
    program mine, others;
    quorum_mutex lock = lock_of(mine);
    const lease held = soon(lock.async_lock(asio::use_future));
    ASSERT_TRUE(has_votes(held, 3));
    // Held by somebody else, or the vote would be had again.
    const auto take = [&](client& where) {
        mutex taken{where, name_};
        std::future<lease> theirs = taken.async_lock(asio::use_future);
        EXPECT_TRUE(where.force_unlock(name_));
        return soon(std::move(theirs));
    };
    const lease first = take(others.database);
    EXPECT_TRUE(held.owns_lock());
    const lease second = take(others.keeper);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(eventually([&] { return !is_held_at(others.redis); })) << "its rest is released";
    EXPECT_TRUE(first.owns_lock() && second.owns_lock());
}

TEST_F(QuorumOfDifferentStores, IsImpairedOnlyByADatabaseThatDoesNotWaitForItsDisk) {
    const auto told = std::make_shared<support::recorder>();
    const auto lock_once = [&](program& by) {
        quorum_mutex lock{{by.redis, by.database, by.keeper}, name_}; // these need not remember
        soon(lock.async_lock(asio::use_future)).unlock();
    };
    at().database.sql("SET GLOBAL innodb_flush_log_at_trx_commit=1");
    program mine{told};
    for (int i = 0; i < 5; ++i)
        lock_once(mine);
    EXPECT_EQ(told->count(event_kind::impaired), 0U);
    at().database.sql("SET GLOBAL innodb_flush_log_at_trx_commit=2");
    EXPECT_TRUE(eventually([&] { // it is known when the database has said so
        program others{told};
        lock_once(others);
        lock_once(others);
        return told->count(event_kind::impaired) > 0;
    }));
    EXPECT_THAT(told->last(event_kind::impaired)->text, testing::HasSubstr("node 2"));
}

TEST_F(QuorumOfDifferentStores, ServersThatAreTheSameAreFound) {
    program mine;
    const auto expect_refused = [&](client& again) {
        quorum_mutex lock{
            {mine.redis, mine.database, mine.keeper, again}, name_, {.nodes_remember = true}};
        EXPECT_TRUE(eventually([&] { // it is known when both have said who they are
            try {
                soon(lock.async_lock(asio::use_future)).unlock();
                return false;
            } catch (const boost::system::system_error& why) {
                return why.code() == errc::invalid_argument;
            }
        }));
    };
    std::string socket = at().database.unix_url();
    socket.insert(socket.find("://") + 3, std::string{support::mariadb_server::user} + ":" +
                                              support::mariadb_server::password + "@");
    client same_database = client_at(socket);
    expect_refused(same_database);
    client same_keeper = client_at("zk://localhost:" + std::to_string(at().keeper.port()));
    expect_refused(same_keeper);
}

class SeveralOnDifferentStores : public DifferentStores {
protected:
    struct locks {
        locks(program& of, const std::string& name)
            : redis{of.redis, name}
            , database{of.database, name}
            , keeper{of.keeper, name} {}
        fenced_mutex redis, database, keeper;
        multi_mutex all{redis, database, keeper};
        multi_mutex turned{keeper, database, redis};
    };
};

TEST_F(SeveralOnDifferentStores, AllAreTakenOrNone) {
    program mine, others;
    locks ours{mine, name_}, theirs{others, name_};
    for (basic_mutex* each :
         std::vector<basic_mutex*>{&theirs.redis, &theirs.database, &theirs.keeper}) {
        each->lock();
        EXPECT_FALSE(ours.all.try_lock());
        EXPECT_TRUE(eventually([&] { return held_at(others) == 1; }));
        each->unlock();
    }
    ours.all.lock();
    EXPECT_EQ(held_at(others), 3U);
    EXPECT_FALSE(theirs.all.try_lock());
    EXPECT_FALSE(theirs.turned.try_lock());
    ours.all.unlock();
    EXPECT_TRUE(eventually([&] { return held_at(others) == 0; }));
}

TEST_F(SeveralOnDifferentStores, EachMemberHasItsOwnGrowingToken) {
    program mine;
    locks ours{mine, name_};
    std::vector<std::uint64_t> before{0, 0, 0};
    for (int i = 0; i < 3; ++i) {
        const lease held = soon(ours.all.async_lock(asio::use_future));
        const std::vector<std::uint64_t> tokens = multi_mutex::fencing_tokens(held);
        ASSERT_EQ(tokens.size(), 3U);
        for (std::size_t m = 0; m < 3; ++m)
            EXPECT_GT(tokens[m], before[m]);
        before = tokens;
    }
}

TEST_F(SeveralOnDifferentStores, TwoThatWantThemInDifferentOrdersBothHaveThem) {
    program mine, others;
    locks ours{mine, name_}, theirs{others, name_};
    for (int i = 0; i < 5; ++i) {
        std::future<lease> one = ours.all.async_lock(asio::use_future);
        std::future<lease> other = theirs.turned.async_lock(asio::use_future);
        EXPECT_TRUE(eventually([&] { return support::is_ready(one) || support::is_ready(other); }));
        std::future<lease>& first = support::is_ready(one) ? one : other;
        std::future<lease>& second = &first == &one ? other : one;
        {
            const lease held = soon(std::move(first));
            EXPECT_TRUE(held.owns_lock());
            EXPECT_FALSE(support::is_ready(second));
        }
        EXPECT_TRUE(soon(std::move(second)).owns_lock());
    }
}

TEST_F(SeveralOnDifferentStores, TheLossOfOneIsTheLossOfAll) {
    program mine, others;
    for (client* where : {&others.redis, &others.database, &others.keeper}) {
        locks ours{mine, name_};
        const lease held = soon(ours.all.async_lock(asio::use_future));
        ASSERT_TRUE(where->force_unlock(name_));
        EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
        EXPECT_TRUE(eventually([&] { return held_at(others) == 0; }));
    }
}

} // namespace
} // namespace holdfast::conformance
