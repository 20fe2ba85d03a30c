// SPDX-License-Identifier: Apache-2.0
// Processes that are stopped while they hold a lock in MariaDB or wait for one, for longer than the
// lease and for a shorter time. kill_test.cpp has the same tests for Redis.
#include "process/with_server.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"

#include <holdfast/mysql/options.hpp>

#include <boost/asio/use_future.hpp>

#include <stop_token>

namespace holdfast::process {
namespace {

/// No poll of the loop's own finds anything in time.
options of_mysql_story(const std::vector<std::string>& arguments) {
    mysql::add_schemes();
    options how = of_story(arguments);
    how.poll_bound = 1h;
    return how;
}

/// Says when it loses it. Of each line but "enough" it says whether it believes to hold it.
const named_story holds_row{"holds a row", [](const auto& arguments) {
                                client home{of_mysql_story(arguments)};
                                fenced_mutex stock{home, "stock"};
                                lease held = soon(stock.async_lock(asio::use_future));
                                const std::stop_callback on_loss{held.lost(), [] { say("lost"); }};
                                say("held");
                                for (std::string line; std::getline(std::cin, line);) {
                                    if (line == "enough")
                                        break;
                                    say(held.owns_lock() ? "mine" : "not mine");
                                }
                                error_code ignored;
                                held.unlock(ignored);
                                return 0;
                            }};

const named_story waits_for_row{"waits for a row", [](const auto& arguments) {
                                    client home{of_mysql_story(arguments)};
                                    fenced_mutex stock{home, "stock"};
                                    lease held = stock.async_lock(asio::use_future).get();
                                    say("got it");
                                    std::string line;
                                    std::getline(std::cin, line);
                                    held.unlock();
                                    return 0;
                                }};

class MysqlStopped : public testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { server_.emplace(); });
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(of_mysql_story({server_->url()}));
        (void)home_->set_up();
        stock_.emplace(*home_, "stock");
        stock_->lock(); // so there is a row
        stock_->unlock();
    }

    child start(const char* story, duration lease = options{}.lease_time) {
        return child{story, {.arguments = {server_->url(), std::to_string(lease.count())}}};
    }
    static void end(child& other) {
        other.say("enough");
        EXPECT_EQ(other.wait(), 0);
    }

    std::string of_row(const std::string& what) {
        return server_->value("SELECT " + what + " FROM holdfast_lock WHERE name='stock'");
    }
    bool is_held() { return of_row("expires>UTC_TIMESTAMP(6)") == "1"; }
    bool is_left(duration least) {
        return of_row("expires>UTC_TIMESTAMP(6)+INTERVAL " + std::to_string(least.count() * 1000) +
                      " MICROSECOND") == "1";
    }
    bool wait_at_bell(int number) {
        return eventually([&] {
            return server_->value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                                  "STATE='User lock'") == std::to_string(number);
        });
    }

    std::optional<support::mariadb_server> server_;
    std::optional<client> home_;
    std::optional<fenced_mutex> stock_;
};

TEST_F(MysqlStopped, AHolderThatGoesOnBeyondItsLeaseKnowsThatItLost) {
    child holder = start("holds a row", 6s);
    ASSERT_EQ(holder.next_line(), "held");
    child first = start("waits for a row"), second = start("waits for a row");
    ASSERT_TRUE(wait_at_bell(2));
    holder.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return first.has_said() || second.has_said(); }));
    child& winner = first.has_said() ? first : second;
    child& other = &winner == &first ? second : first;
    EXPECT_EQ(winner.next_line(), "got it");
    const std::string owner = of_row("owner");
    holder.signal(SIGCONT);
    EXPECT_EQ(holder.next_line(), "lost");
    holder.say("is it yours?");
    EXPECT_EQ(holder.next_line(), "not mine");
    end(holder);
    EXPECT_TRUE(is_held());
    EXPECT_EQ(of_row("owner"), owner) << "it released what is another's";
    EXPECT_FALSE(other.has_said()) << "one has it, once";
    end(winner);
    EXPECT_EQ(other.next_line(), "got it");
    end(other);
}

TEST_F(MysqlStopped, AHolderThatGoesOnWithinItsLeaseKeepsIt) {
    const duration lease = 18s; // it is renewed three times as often
    child holder = start("holds a row", lease);
    ASSERT_EQ(holder.next_line(), "held");
    child waiter = start("waits for a row");
    ASSERT_TRUE(wait_at_bell(1));
    holder.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return !is_left(lease * 7 / 12); })) << "a renewal did not come";
    EXPECT_TRUE(is_held());
    holder.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return is_left(lease * 9 / 12); }));
    EXPECT_FALSE(waiter.has_said());
    holder.say("is it yours?");
    EXPECT_EQ(holder.next_line(), "mine");
    end(holder);
    EXPECT_EQ(waiter.next_line(), "got it");
    end(waiter);
}

TEST_F(MysqlStopped, AWaiterKeepsNobodyFromTheLock) {
    lease held = soon(stock_->async_lock(asio::use_future));
    child first = start("waits for a row");
    ASSERT_TRUE(wait_at_bell(1)); // the bell comes to it first
    child second = start("waits for a row");
    ASSERT_TRUE(wait_at_bell(2));
    first.signal(SIGSTOP);
    held.unlock();
    EXPECT_EQ(second.next_line(), "got it");
    first.signal(SIGCONT);
    EXPECT_TRUE(is_held());
    end(second);
    EXPECT_EQ(first.next_line(), "got it");
    end(first);
}

/// Stands still from when its attempt is at the server until that has been granted.
class MysqlStoppedAtGrant : public MysqlStopped {
protected:
    void SetUp() override {
        MysqlStopped::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        row_.emplace(server_->connect());
        row_->run("START TRANSACTION");
        row_->run("SELECT 1 FROM holdfast_lock WHERE name='stock' FOR UPDATE");
    }
    bool is_granted_while_it_stands(child& waiter) {
        const bool came =
            eventually([&] { return server_->counted("Innodb_row_lock_current_waits") == 1; });
        waiter.signal(SIGSTOP);
        const std::string before = of_row("token");
        row_->run("ROLLBACK");
        return came && eventually([&] { return of_row("token") != before; });
    }

private:
    std::optional<support::sql_connection> row_;
};

TEST_F(MysqlStoppedAtGrant, ForLongerThanTheLeaseItDoesNotBelieveInIt) {
    child waiter = start("waits for a row", 6s);
    ASSERT_TRUE(is_granted_while_it_stands(waiter));
    ASSERT_TRUE(eventually([&] { return !is_held(); }));
    lease held = soon(stock_->async_lock(asio::use_future));
    waiter.signal(SIGCONT);
    EXPECT_TRUE(wait_at_bell(1)) << "it waits like any other";
    EXPECT_FALSE(waiter.has_said());
    held.unlock();
    EXPECT_EQ(waiter.next_line(), "got it");
    end(waiter);
}

TEST_F(MysqlStoppedAtGrant, ForAShorterTimeItHasIt) {
    child waiter = start("waits for a row");
    ASSERT_TRUE(is_granted_while_it_stands(waiter));
    const std::string token = of_row("token");
    waiter.signal(SIGCONT);
    EXPECT_EQ(waiter.next_line(), "got it");
    EXPECT_EQ(of_row("token"), token) << "it is the first grant";
    end(waiter);
    EXPECT_FALSE(is_held());
}

} // namespace
} // namespace holdfast::process
