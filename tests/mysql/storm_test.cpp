// SPDX-License-Identifier: Apache-2.0
// Connections that are killed all the time: whoever holds a lock holds it alone, and tokens grow.
#include "mysql/store_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/asio/use_future.hpp>

namespace holdfast::mysql {
namespace {

using steady = std::chrono::steady_clock;

/// A hold as its owner believed it.
struct claim {
    steady::time_point from, to;
    std::uint64_t token;
};

class Storm : public on_store {
protected:
    static int kills_wanted() { return std::getenv("HOLDFAST_HEAVY") != nullptr ? 1500 : 300; }

    /// Takes and releases until `over`, and says when it believed to hold.
    std::vector<claim> take_and_release(std::atomic<bool>& over) {
        client home = make_client({.lease_time = 300ms, .unavailable_patience = 5s,
                                   .hand_off = {.times_max = 0}});
        fenced_mutex lock{home, name_};
        std::vector<claim> claims;
        while (!over) {
            error_code ec;
            lease held;
            try {
                auto got = lock.async_try_lock_for(200ms, asio::use_future).get();
                if (!got)
                    continue;
                held = std::move(*got);
            } catch (const boost::system::system_error&) {
                continue; // unreachable, or not known: nothing is claimed
            }
            const auto from = steady::now();
            const std::uint64_t token = held.fencing_token();
            if (!held.owns_lock())
                continue;
            std::this_thread::yield();
            const auto to = steady::now();
            if (held.owns_lock())
                claims.push_back({from, to, token});
            held.unlock(ec);
        }
        return claims;
    }

    /// Ends the connection of one of them, whatever it does.
    void kill_one(session& by, std::uint64_t which) {
        const auto all = by.run("SELECT ID,COMMAND FROM information_schema.processlist WHERE "
                                "USER='" + std::string{support::mariadb_server::user} +
                                "' AND ID<>CONNECTION_ID()");
        if (all.empty())
            return;
        try {
            const char* const what = which % 4 == 0 ? "KILL QUERY " : "KILL ";
            by.run(what + *all[which % all.size()].at(0));
        } catch (const support::sql_error&) {
            // It has ended by itself.
        }
    }
};

TEST_F(Storm, AKilledConnectionLosesNoHold) {
    constexpr int clients = 8;
    std::atomic<bool> over = false;
    std::vector<std::future<std::vector<claim>>> all;
    for (int i = 0; i < clients; ++i)
        all.push_back(meanwhile([&] { return take_and_release(over); }));
    session killer{server()};
    for (int i = 0; i < kills_wanted(); ++i)
        kill_one(killer, static_cast<std::uint64_t>(i) * 2'654'435'761U);
    over = true;
    std::vector<claim> claims;
    for (auto& each : all)
        std::ranges::move(support::soon(std::move(each)), std::back_inserter(claims));
    std::ranges::sort(claims, {}, &claim::from);
    EXPECT_GT(claims.size(), 10U);
    for (std::size_t i = 1; i < claims.size(); ++i) {
        EXPECT_LE(claims[i - 1].to, claims[i].from) << "two held it at once";
        EXPECT_LT(claims[i - 1].token, claims[i].token);
    }
    RecordProperty("claims", static_cast<int>(claims.size()));
}

} // namespace
} // namespace holdfast::mysql
