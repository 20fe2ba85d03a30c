// SPDX-License-Identifier: Apache-2.0
// Servers that stop replying without closing the connection, or never reply at all.
#include "chaos/on_proxy.hpp"

#include <boost/asio/use_future.hpp>

#include <future>
#include <stop_token>

namespace holdfast::chaos {
namespace {

class Silence : public on_proxy {};
HOLDFAST_ON_EACH_SERVER(Silence);

// [N7]
TEST_P(Silence, OfAHalfOpenConnectionCostsACommandTimeoutAndNotTheLock) {
    client home{through_proxy()};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    proxy().lose_all();
    lock.lock();
    EXPECT_EQ(owners(), 1);
    lock.unlock();
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// [N7]
TEST_P(Silence, OfAConnectionThatNobodyUsesIsNoticedToo) {
    options how = through_proxy();
    how.lease_time = 600ms; // a third of it, which is how long an answer may take, to the question
    client home{how};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    const std::size_t before = told_->count(event_kind::disconnected);
    proxy().lose_all();
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > before; }));
    EXPECT_THAT(told_->last(event_kind::disconnected).value().text,
                ::testing::AnyOf(::testing::HasSubstr("did not answer"),
                                 ::testing::HasSubstr("but not over this one")));
}

// [N15]
TEST_P(Silence, OfAnEarCostsAPollAndNotALease) {
    options how = through_proxy();
    how.poll_bound = 300ms;
    client waits{how}, holds{directly()};
    mutex waited{waits, "L"}, held{holds, "L"};
    held.lock();
    auto taken = std::async(std::launch::async, [&] {
        waited.lock();
        waited.unlock();
        return std::chrono::steady_clock::now();
    });
    ASSERT_TRUE(eventually([&] {
        return server().command({"PUBSUB", "CHANNELS"}).items.size() == 1;
    }));
    proxy().lose_subscribers();
    const auto released = std::chrono::steady_clock::now();
    held.unlock();
    EXPECT_LT(soon(std::move(taken)) - released, options{}.lease_time / 2);
}

/// Timeout of the requests in the tests of connections that fall silent. A client that waits for
/// the whole timeout on such a connection fails these tests.
constexpr duration timeout_on_silent_connection{6'000};

// [N7]
TEST_P(Silence, UnlockOnASilentConnectionSucceedsBeforeTheTimeoutOfItsRequest) {
    client home{towards({.unix_socket = proxy().socket_path()}, timeout_on_silent_connection)};
    mutex lock{home, "L"};
    lock.lock();
    proxy().lose_all();
    const auto began = std::chrono::steady_clock::now();
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_LT(std::chrono::steady_clock::now() - began, timeout_on_silent_connection);
    EXPECT_TRUE(is_free());
}

// [N7]
TEST_P(Silence, UnlockAfterRenewalsOverAnotherConnectionDoesNotUseTheSilentOne) {
    options how = towards({.unix_socket = proxy().socket_path()}, timeout_on_silent_connection);
    how.lease_time = 3s;
    client home{how};
    mutex lock{home, "L"};
    lease held = soon(lock.async_lock(asio::use_future));
    proxy().lose_all();
    ASSERT_TRUE(is_renewed(held)) << "over another connection";
    const auto began = std::chrono::steady_clock::now();
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_LT(std::chrono::steady_clock::now() - began, timeout_on_silent_connection / 4)
        << "so long does it take to find out that a connection is silent";
    EXPECT_TRUE(is_free());
}

// [N7]
TEST_P(Silence, WaiterOnSilentConnectionsGetsTheLockBeforeTheTimeoutOfItsRequest) {
    options how = towards({.unix_socket = proxy().socket_path()}, timeout_on_silent_connection);
    how.poll_bound = 1s;
    client waits{how}, holds{directly()};
    mutex waited{waits, "L"}, held{holds, "L"};
    held.lock();
    auto taken = std::async(std::launch::async, [&] {
        waited.lock();
        const auto at = std::chrono::steady_clock::now();
        waited.unlock();
        return at;
    });
    ASSERT_TRUE(eventually([&] {
        return server().command({"PUBSUB", "CHANNELS"}).items.size() == 1;
    }));
    proxy().lose_all();
    const auto released = std::chrono::steady_clock::now();
    held.unlock();
    EXPECT_LT(soon(std::move(taken)) - released, timeout_on_silent_connection);
}

// [N20]
TEST_P(Silence, OfWhoeverAcceptsConnectionsIsUnreachableInTime) {
    proxy().be_silent(true);
    options how = through_proxy();
    how.unavailable_timeout = 500ms;
    client home{how};
    mutex lock{home, "L"};
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, errc::unreachable) << why.text;
    EXPECT_THAT(why.text, ::testing::ContainsRegex("not (done|sent) within 200 ms"))
        << "a busy machine has not even connected by then";
    proxy().be_silent(false);
    ASSERT_TRUE(eventually([&] { return !thrown_by([&] { lock.lock(); }).code; }));
    lock.unlock();
}

// [N17]
TEST_P(Silence, OfTheNameServiceIsUnreachableAndNamesTheHost) {
    redis::options where;
    where.host = "no-such-host.invalid";
    options how;
    how.store = redis::make_store(where);
    how.unavailable_timeout = 100ms;
    client home{how};
    mutex lock{home, "L"};
    const support::thrown why = thrown_by([&] { lock.lock(); });
    EXPECT_EQ(why.code, errc::unreachable) << why.text;
    EXPECT_THAT(why.text, ::testing::HasSubstr("no-such-host.invalid"));
}

// A thread that waits on a blocking connection is where no executor can reach it.
TEST_P(Silence, DoesNotKeepACallingThreadFromBeingStopped) {
    redis::options patient{.unix_socket = proxy().socket_path()};
    patient.command_timeout = 2 * support::far_too_long;
    options how;
    how.store = redis::make_store(patient);
    how.close_timeout = how.release_timeout = 0ms;
    client home{how};
    mutex lock{home, "L"};
    const auto has_a_lane = [&] { // beside the shared connection and this one
        lock.lock();
        lock.unlock();
        const std::string clients = server().command({"CLIENT", "LIST"}).text;
        return clients.find("name=holdfast") != clients.rfind("name=holdfast");
    };
    ASSERT_TRUE(eventually(has_a_lane));
    proxy().hold_back();
    std::stop_source stop;
    auto waits = std::async(std::launch::async,
                            [&] { return thrown_by([&] { lock.lock(stop.get_token()); }); });
    ASSERT_TRUE(eventually([&] { return proxy().bytes_held() > 0; }));
    stop.request_stop();
    EXPECT_EQ(soon(std::move(waits)).code, asio::error::operation_aborted);
}

// Requests that are carried out late: nobody may find the lock taken by who has gone.

class Late : public on_proxy {
protected:
    Late()
        : on_proxy{{.arguments = {"--enable-debug-command", "yes"}}} {}

    /// The server's clock is known to the client then, and its scripts to the server.
    void get_acquainted(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        lock.unlock();
        server().command({"CONFIG", "RESETSTAT"});
    }

    /// Takes one lock after the other until that fails, since nobody answers in time. From then on
    /// a request is on its way that nobody waits for.
    void lock_until_nobody_answers(client& home) {
        support::thrown why;
        for (; !why.code; ++granted_) {
            mutex lock{home, "L" + std::to_string(granted_)};
            why = thrown_by([&] { lock.lock(); });
        }
        --granted_;
        EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    }

    /// When the server has come to the request that nobody waited for.
    void expect_no_ghost() {
        ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > granted_; }));
        EXPECT_EQ(calls_of("hset"), granted_) << "a lock was taken for nobody";
        EXPECT_TRUE(is_free("L" + std::to_string(granted_)));
    }

private:
    std::int64_t granted_ = 0;
};
HOLDFAST_ON_EACH_SERVER(Late);

// [N4]
TEST_P(Late, ARequestThatIsHeldUpOnTheWayTakesNoLock) {
    client home{hasty(proxy().socket_path())};
    get_acquainted(home);
    proxy().hold_back();
    lock_until_nobody_answers(home);
    home.close();
    EXPECT_GT(proxy().bytes_held(), 0u);
    proxy().let_go();
    expect_no_ghost();
}

// [S19]
TEST_P(Late, AServerThatHoldsClientsBackTakesNoLockAfterwards) {
    client home{hasty(server().socket_path())};
    get_acquainted(home);
    server().command({"CLIENT", "PAUSE", "6000", "ALL"});
    lock_until_nobody_answers(home);
    expect_no_ghost();
}

// [S28]
TEST_P(Late, AServerThatStallsTakesNoLockAfterwards) {
    client home{hasty(server().socket_path())};
    get_acquainted(home);
    support::redis_connection sleepless{server().socket_path()};
    sleepless.begin({"DEBUG", "SLEEP", "6"});
    lock_until_nobody_answers(home);
    expect_no_ghost();
}

// [S3]
TEST_P(Late, AServerThatIsStoppedForAWhileTakesNoLockAfterwards) {
    client home{hasty(server().socket_path())};
    get_acquainted(home);
    server().pause();
    lock_until_nobody_answers(home);
    server().resume();
    expect_no_ghost();
}

} // namespace
} // namespace holdfast::chaos
