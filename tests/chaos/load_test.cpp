// SPDX-License-Identifier: Apache-2.0
// Very many waiters, and a server that is away: everything ends, nothing is kept, nobody storms the
// server when it is back. HOLDFAST_HEAVY=1 plays it at full length.
#include "chaos/on_proxy.hpp"
#include "support/lock_keys.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <thread>

#include <malloc.h>

namespace holdfast::chaos {
namespace {

constexpr std::size_t names = 1'000, waiters_per_name = 10, waiters = names * waiters_per_name;

/// What ten thousand waiters may cost; a coroutine, its request, its place and its handler each.
constexpr std::size_t bytes_per_waiter_max = 16 * 1024;

/// The client's two connections, made twice, and as often again for what the backoff allows.
constexpr std::int64_t connections_max = 12;

duration time_away() {
    return std::getenv("HOLDFAST_HEAVY") != nullptr ? duration{20s} : duration{1s};
}

/// What is allocated now, whatever the system has been given back of it.
std::size_t allocated_bytes() {
    const auto all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
}

/// What a client that was busy may keep: its buffers, tables that have grown, a thread's cache. It
/// kept 3.4 to 4.4 MB in measurements. About 3.1 MB of that were the buffers of the connection,
/// which grow with the number of requests that are sent at once. If the client kept what it has
/// allocated for each waiter, it would keep more than 10 MB.
constexpr std::size_t bytes_kept_max = 8 * 1024 * 1024;

class Load : public on_proxy {};
HOLDFAST_ON_EACH_SERVER(Load);

TEST_P(Load, TenThousandWaitersOutliveAServerThatIsAwayAndAreAllServed) {
    options how = directly_for_many();
    how.unavailable_timeout = 2 * time_away() + support::far_too_long;
    client home{how};
    std::deque<mutex> locks;
    for (std::size_t i = 0; i < names; ++i)
        locks.emplace_back(home, "L" + std::to_string(i));
    server().stop();

    const std::size_t before = allocated_bytes();
    std::atomic<std::size_t> served = 0, failed = 0;
    for (std::size_t i = 0; i < waiters; ++i)
        locks[i % names].async_lock([&](const error_code& ec, lease held) {
            ++(ec ? failed : served);
            if (!ec)
                held.async_unlock([](error_code) {});
        });
    const auto back_at = std::chrono::steady_clock::now() + time_away();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
    std::this_thread::sleep_until(back_at); // the outage itself
    EXPECT_EQ(served + failed, 0u);
    EXPECT_LT(allocated_bytes(), before + waiters * bytes_per_waiter_max);

    server().start();
    EXPECT_TRUE(eventually([&] { return served + failed == waiters; })) << served << " served";
    EXPECT_EQ(failed, 0u);
    EXPECT_TRUE(eventually([&] { return support::lock_keys(server()).empty(); }));
    const std::string stats = server().command({"INFO", "stats"}).text;
    const std::string line = "total_connections_received:";
    EXPECT_LE(std::stoll(stats.substr(stats.find(line) + line.size())), connections_max);
    EXPECT_TRUE(eventually([&] { return allocated_bytes() < before + bytes_kept_max; }))
        << allocated_bytes() - before << " bytes more than before";
    home.close();
}

} // namespace
} // namespace holdfast::chaos
