// SPDX-License-Identifier: Apache-2.0
// Connections that are killed all the time: whoever holds a lock holds it alone, and tokens grow.
#include "mysql/claims.hpp"
#include "mysql/store_fixture.hpp"

#include <cstdlib>
#include <iterator>

namespace holdfast::mysql {
namespace {

class Storm : public on_store {
protected:
    static int kills_wanted() { return std::getenv("HOLDFAST_HEAVY") != nullptr ? 1500 : 300; }

    claims claimed_until(const std::atomic<bool>& over) {
        options how = reaching(server());
        how.backoff_min = 1ms;
        how.backoff_max = 20ms;
        client home = client_of(
            how, {.lease_time = 300ms, .unavailable_patience = 5s, .hand_off = {.times_max = 0}});
        fenced_mutex lock{home, name_};
        return take_and_release(
            over, [&] { return lock.async_try_lock_for(200ms, boost::asio::use_future); });
    }

    /// By the operator's session, which is not among those that are killed.
    std::string token() {
        return server().value("SELECT token FROM " + in_schema.locks +
                              " WHERE name=" + hex(name_.text));
    }

    /// Ends the connection of one of them, or what it does.
    void kill_one(session& by, std::uint64_t which) {
        const auto all =
            by.run("SELECT ID FROM information_schema.processlist WHERE USER='" +
                   std::string{support::mariadb_server::user} + "' AND ID<>CONNECTION_ID()");
        if (all.empty())
            return;
        try {
            const char* const what = which % 4 == 0 ? "KILL QUERY " : "KILL ";
            by.run(what + all[which % all.size()].at(0).value());
        } catch (const support::sql_error&) {
            // It has ended by itself.
        }
    }
};

TEST_F(Storm, AKilledConnectionLosesNoHold) {
    constexpr int clients = 8;
    std::atomic<bool> over = false;
    std::vector<std::future<claims>> all;
    for (int i = 0; i < clients; ++i)
        all.push_back(meanwhile([&] { return claimed_until(over); }));
    session killer{server()};
    for (int i = 0; i < kills_wanted(); ++i) {
        kill_one(killer, static_cast<std::uint64_t>(i) * 2'654'435'761U);
        if (i % 4 == 0) { // somebody gets it in spite of that
            const std::string before = token();
            EXPECT_TRUE(support::eventually([&] { return token() != before; }));
        }
    }
    over = true;
    claims together;
    for (auto& each : all)
        std::ranges::move(support::soon(std::move(each)), std::back_inserter(together));
    EXPECT_GT(together.size(), 10U);
    expect_no_overlap(together);
    expect_tokens_grow(together);
    RecordProperty("claims", static_cast<int>(together.size()));
}

} // namespace
} // namespace holdfast::mysql
