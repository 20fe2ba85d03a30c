// SPDX-License-Identifier: Apache-2.0
// Clients that end, and processes that fork, where Sentinels appoint the primary.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::soon;
using support::thrown_by;

class ClientsOfSentinels : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(ClientsOfSentinels);

TEST_P(ClientsOfSentinels, TheEndOfAClientWaitsForNoneOfThemWhenAllAreDown) {
    holdfast::options patient = how();
    patient.unavailable_patience = 24h;
    patient.close_patience = 0ms;
    auto home = std::make_unique<client>(patient);
    mutex lock{*home, "L"};
    lock.lock();
    for (const std::size_t each : {0U, 1U, 2U}) {
        servers().server(each).stop();
        servers().sentinel(each).stop();
    }
    auto waiting = std::async(std::launch::async, [&] {
        return thrown_by([&] { mutex{*home, "other"}.lock(); });
    });
    ASSERT_TRUE(told(event_kind::disconnected));
    home->close();
    EXPECT_EQ(soon(std::move(waiting)).code, errc::closed);
    soon(std::async(std::launch::async, [&] { home.reset(); }));
}

TEST_P(ClientsOfSentinels, AForkedProcessHasNothingAndDisturbsNobody) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    await_replicas();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_forked = thrown_by([&] { lock.lock(); }).code == errc::forked;
        ::_exit(is_forked ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    const std::scoped_lock here{lock};
    EXPECT_TRUE(is_at_primary("L"));
    EXPECT_FALSE(held.lost().stop_requested());
}

} // namespace
} // namespace holdfast
