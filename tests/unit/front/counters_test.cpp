// SPDX-License-Identifier: Apache-2.0
// What every verb of what is counted owes: on the client's own executor, after close(), and when
// the objects go while it is under way.
#include "support/counter_verbs.hpp"
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast {
namespace {

using support::counter_verbs;
using support::counters;

class CounterVerbs : public in_real_time {
protected:
    static void expect(const counter_verbs& verbs, errc wanted) {
        for (const auto& [name, verb] : verbs)
            EXPECT_EQ(verb(), wanted) << name;
    }
    /// Somebody else's, of which nothing is to be had.
    void shut_all() {
        counters others{bob};
        others.gate.try_set_count(1);
        others.mails.set_rate({.permits = 1, .per = 1h});
        others.mails.acquire();
    }
    static std::vector<std::future<error_code>> waiting_at(counters& my) {
        std::vector<std::future<error_code>> all;
        const auto wait = [&all](auto call) {
            all.push_back(elsewhere([call] { return support::code_of(call); }));
        };
        wait([&my] { my.seats.acquire(); });
        wait([&my] { (void)my.leases.acquire(); });
        wait([&my] { my.gate.wait(); });
        wait([&my] { my.mails.acquire(); });
        return all;
    }
};

TEST_F(CounterVerbs, ThatBlockAreRefusedOnTheClientsOwnExecutor) {
    counters my{alice};
    std::promise<void> done;
    my.seats.async_available_permits([&](error_code, std::int64_t) {
        expect(blocking_counter_verbs(my), errc::would_deadlock);
        done.set_value();
    });
    soon(done.get_future());
    EXPECT_EQ(sent.all(), 1u) << "it was sent all the same";
}

TEST_F(CounterVerbs, OfAClosedClientSayThatItIsClosed) {
    counters my{alice};
    alice.close();
    const std::size_t before = sent.all();
    expect(blocking_counter_verbs(my), errc::closed);
    expect(asynchronous_counter_verbs(my), errc::closed);
    EXPECT_EQ(sent.all(), before);
}

TEST_F(CounterVerbs, OfAClientThatIsGoneSayThatItIsClosed) {
    auto home = std::make_unique<client>(options{.store = server.connect()});
    counters my{*home};
    home.reset();
    expect(blocking_counter_verbs(my), errc::closed);
    expect(asynchronous_counter_verbs(my), errc::closed);
}

TEST_F(CounterVerbs, ThatWaitEndWhenTheirClientIsClosed) {
    shut_all();
    counters my{alice};
    std::vector<std::future<error_code>> waiting = waiting_at(my);
    EXPECT_TRUE(
        eventually([&] { return server.listener_count() == 3 && sent.count(verb::count) >= 5; }));
    alice.close();
    for (std::future<error_code>& each : waiting)
        EXPECT_EQ(soon(std::move(each)), errc::closed);
    EXPECT_TRUE(eventually([&] { return server.listener_count() == 0; }));
}

TEST_F(CounterVerbs, GoOnWhenTheirObjectsAreGone) {
    shut_all();
    auto my = std::make_unique<counters>(alice);
    std::future<void> permits = my->seats.async_acquire(2, asio::use_future);
    std::future<lease> leased = my->leases.async_acquire(2, asio::use_future);
    std::future<void> opened = my->gate.async_wait(asio::use_future);
    std::future<void> drawn = my->mails.async_acquire(1, asio::use_future);
    EXPECT_TRUE(eventually([&] { return server.listener_count() == 3; }));
    my.reset();
    counters others{bob};
    others.seats.release(3);
    others.leases.set_permits(3);
    others.gate.count_down();
    others.mails.release();
    soon(std::move(permits));
    EXPECT_TRUE(soon(std::move(leased)).owns_lock());
    soon(std::move(opened));
    soon(std::move(drawn));
    EXPECT_EQ(others.seats.available_permits(), 1);
}

TEST_F(CounterVerbs, ALeaseOfPermitsOutlivesItsSemaphoreAndItsClient) {
    auto home = std::make_unique<client>(options{.store = server.connect(), .close_patience = 0ms});
    auto my = std::make_unique<counters>(*home);
    my->leases.set_permits(2);
    lease held = my->leases.acquire(2);
    my.reset();
    EXPECT_TRUE(held.owns_lock());
    home.reset();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_FALSE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
}

} // namespace
} // namespace holdfast
