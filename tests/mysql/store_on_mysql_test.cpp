// SPDX-License-Identifier: Apache-2.0
// The store on MySQL's own server: what rests on how it carries out statements. The rest is tried
// on MariaDB alone.
#include "mysql/claims.hpp"
#include "mysql/store_fixture.hpp"
#include "support/on_each_server.hpp"

#include <holdfast/mysql/nail.hpp>

#include <iterator>
#include <memory>
#include <mutex>

namespace holdfast::mysql {
namespace {

class AttemptsOnMySQL9 : public ::testing::Test {
protected:
    void SetUp() override {
        if (support::newer_mysql().empty())
            GTEST_SKIP() << "HOLDFAST_NEWER_MYSQL names no server";
        support::make_or_skip([] { server(); });
        name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    }

    static support::mariadb_server& server() {
        static support::mariadb_server one{support::newer_mysql().front()};
        static const bool made = [] {
            for (const std::string& each : making(in_schema))
                one.sql(each);
            return true;
        }();
        (void)made;
        return one;
    }
    static client make_client(holdfast::options more = {}) {
        return client_of(reaching(server()), std::move(more));
    }
    std::string of_row(const std::string& column) {
        return server().value("SELECT " + column + " FROM " + in_schema.locks +
                              " WHERE name=" + hex(name_));
    }
    template <typename Work>
    static auto meanwhile(Work work) {
        return std::async(std::launch::async, std::move(work));
    }
    static bool somebody_waits_for_bell() {
        return support::eventually([] {
            return server().value("SELECT COUNT(*) FROM information_schema.processlist "
                                  "WHERE INFO LIKE 'SELECT GET_LOCK%'") != "0";
        });
    }

    std::string name_;
};

TEST_F(AttemptsOnMySQL9, GrantOnceAndTokensGrow) {
    std::atomic<bool> over = false;
    std::vector<std::future<claims>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(meanwhile([&] {
            client home = make_client({.hand_off = {.times_max = 0}});
            fenced_mutex lock{home, name_};
            return take_and_release(
                over, [&] { return lock.async_try_lock_for(500ms, boost::asio::use_future); });
        }));
    for (int grants = 0; grants < 20; ++grants) {
        const std::string before = of_row("token");
        EXPECT_TRUE(support::eventually([&] { return of_row("token") != before; }));
    }
    over = true;
    claims together;
    for (auto& each : all)
        std::ranges::move(support::soon(std::move(each)), std::back_inserter(together));
    EXPECT_GT(together.size(), 5U);
    expect_no_overlap(together);
    expect_tokens_grow(together);
}

TEST_F(AttemptsOnMySQL9, WaitersAreCalledByTheBell) {
    constexpr auto hardly_ever = std::chrono::hours{1};
    client home = make_client(), other = make_client({.poll_bound = hardly_ever});
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = meanwhile([&] {
        const std::scoped_lock inside{theirs};
        return true;
    });
    EXPECT_TRUE(somebody_waits_for_bell());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(AttemptsOnMySQL9, AreServedInTheirTurn) {
    client home = make_client(), second = make_client(), third = make_client();
    fair_mutex ours{home, name_}, next{second, name_}, last{third, name_};
    ours.lock();
    const auto queue = [&](std::size_t many) {
        return support::eventually([&] { return home.inspect(name_)->waiters.size() == many; });
    };
    std::atomic<int> came = 0;
    auto first = meanwhile([&] {
        const std::scoped_lock inside{next};
        return ++came;
    });
    ASSERT_TRUE(queue(1));
    auto after = meanwhile([&] {
        const std::scoped_lock inside{last};
        return ++came;
    });
    ASSERT_TRUE(queue(2));
    ours.unlock();
    EXPECT_EQ(support::soon(std::move(first)), 1);
    EXPECT_EQ(support::soon(std::move(after)), 2);
    EXPECT_FALSE(home.inspect(name_));
}

TEST_F(AttemptsOnMySQL9, LetReadersInTogetherAndAWriterAlone) {
    client home = make_client(), other = make_client();
    shared_mutex one{home, name_}, two{other, name_};
    one.lock_shared();
    EXPECT_TRUE(two.try_lock_shared());
    two.unlock_shared();
    EXPECT_FALSE(two.try_lock());
    one.unlock_shared();
    EXPECT_TRUE(two.try_lock());
    EXPECT_FALSE(one.try_lock_shared());
    two.unlock();
}

TEST_F(AttemptsOnMySQL9, ARenewalPassesByARowThatIsLocked) {
    client home = make_client({.lease_time = 1s});
    mutex free{home, name_}, kept{home, name_ + " of another"};
    lease held = free.async_lock(boost::asio::use_future).get();
    lease nailed = kept.async_lock(boost::asio::use_future).get();
    session user{server()};
    user.run("START TRANSACTION");
    user.run(nail(nailed));
    ASSERT_EQ(user.changed(), 1U);
    const std::string end = of_row("expires");
    EXPECT_TRUE(support::eventually([&] { return of_row("expires") > end; }));
    EXPECT_TRUE(held.owns_lock());
    user.run("COMMIT");
}

TEST_F(AttemptsOnMySQL9, WaitBehindALongNail) {
    client home = make_client(), other = make_client({.unavailable_patience = 100ms});
    mutex ours{home, name_}, theirs{other, name_};
    lease held = ours.async_lock(lease_time{300ms}, boost::asio::use_future).get();
    session user{server()};
    user.run("START TRANSACTION");
    user.run(nail(held));
    ASSERT_EQ(user.changed(), 1U);
    std::atomic<bool> committed = false;
    auto waited = meanwhile([&] {
        const std::scoped_lock inside{theirs};
        return committed.load();
    });
    EXPECT_TRUE(
        support::eventually([] { return server().counted("Innodb_row_lock_current_waits") > 0; }));
    wait_longer_than_a_request();
    committed = true;
    user.run("COMMIT");
    EXPECT_TRUE(support::soon(std::move(waited))) << "granted before the transaction ended";
}

} // namespace
} // namespace holdfast::mysql
