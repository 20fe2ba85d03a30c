// SPDX-License-Identifier: Apache-2.0
// What a client reports, and when.
#include "support/wire_hold_of.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using support::told;

class Observer : public on_stage {
protected:
    actor& alice = enter({.prefix = "shop:", .lease_time = 30s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    /// The only report of that kind.
    told the(event_kind kind) const {
        const std::vector<told> all = alice.ear->of(kind);
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? told{} : all.back();
    }
    static std::uint64_t number_of(const lease& l) {
        return support::wire_hold_of(l).what.owner.number;
    }
};

TEST_F(Observer, AcquiredSaysHowLongItTook) {
    server.occupy("shop:stock", 1h);
    stock.async_lock(held.handler());
    run_for(1500ms);
    server.vacate("shop:stock");
    settle();
    const told report = the(event_kind::acquired);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.owner_number, number_of(held.value()));
    EXPECT_EQ(report.length, 1500ms);
    EXPECT_EQ(report.cause, event_cause::none);
    EXPECT_EQ(report.code, errc{});
    EXPECT_EQ(alice.ear->count(event_kind::waited), 0u);
}

TEST_F(Observer, AWaitThatTimedOut) {
    server.occupy("shop:stock", 1h);
    stock.async_try_lock_for(2s, tried.handler());
    run_for(3s);
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.cause, event_cause::timed_out);
    EXPECT_EQ(report.length, 2s);
    EXPECT_EQ(report.code, errc{});
}

TEST_F(Observer, AWaitThatWasCancelled) {
    server.occupy("shop:stock", 1h);
    asio::cancellation_signal stop;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(2s);
    stop.emit(asio::cancellation_type::total);
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::cancelled);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, AWaitThatFailed) {
    alice.always.refused = true;
    stock.async_lock(held.handler());
    run_for(12s);
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::failed);
    EXPECT_EQ(report.code, errc::unreachable);
    EXPECT_GE(report.length, 10s);
    EXPECT_FALSE(report.text.empty());
}

TEST_F(Observer, AWaitThatEndedWithTheClient) {
    server.occupy("shop:stock", 1h);
    stock.async_lock(held.handler());
    run_for(2s);
    close(alice);
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::closed);
    EXPECT_EQ(report.code, errc::closed);
}

TEST_F(Observer, ReleasedSaysHowLongItWasHeld) {
    lease mine = taken(stock);
    const std::uint64_t number = number_of(mine);
    run_for(7s);
    mine.async_unlock(said{}.handler());
    settle();
    const told report = the(event_kind::released);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.owner_number, number);
    EXPECT_EQ(report.length, 7s);
}

TEST_F(Observer, ALossBecauseTheStoreSaysSo) {
    const lease mine = taken(stock);
    server.evict("shop:stock");
    run_for(10s);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::refused);
    EXPECT_EQ(report.owner_number, number_of(mine));
    EXPECT_EQ(report.length, 10s);
}

TEST_F(Observer, ALossBecauseTheTermEnded) {
    const lease mine = taken(stock);
    alice.always.refused = true;
    run_for(1min);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::term_ended);
    EXPECT_EQ(report.length, 30s - 302ms);
}

TEST_F(Observer, ALossThatThisClientForced) {
    const lease mine = taken(stock);
    said<bool> forced;
    run_for(2s);
    stock.async_force_unlock(forced.handler());
    settle();
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::forced);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, ALossByClosing) {
    const lease mine = taken(stock);
    run_for(2s);
    close(alice);
    run_for(1h);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::closed);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, ALossThatTheReleaseFindsOut) {
    lease mine = taken(stock);
    server.evict("shop:stock");
    run_for(2s);
    mine.async_unlock(said{}.handler());
    settle();
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::refused);
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u);
}

TEST_F(Observer, FailedRenewalsAndTheDangerTheyBring) {
    const lease mine = taken(stock);
    alice.always.refused = true;
    run_for(11s);
    const std::vector<told> failures = alice.ear->of(event_kind::renewal_failed);
    ASSERT_EQ(failures.size(), 2u);
    EXPECT_EQ(failures[0].cause, event_cause::failed);
    EXPECT_EQ(failures[0].code, errc::unreachable);
    EXPECT_EQ(failures[0].owner_number, number_of(mine));
    EXPECT_EQ(failures[0].length, 30s - 302ms - 10s);
    EXPECT_EQ(failures[1].length, 30s - 302ms - 11s);

    run_for(10s);
    const told danger = the(event_kind::in_danger);
    EXPECT_EQ(danger.length, 10s);
    EXPECT_EQ(danger.owner_number, number_of(mine));
}

TEST_F(Observer, AReleaseThatIsGivenUp) {
    lease mine = taken(stock);
    const std::uint64_t number = number_of(mine);
    alice.always.refused = true;
    mine.async_unlock(said{}.handler());
    run_for(1h);
    const told report = the(event_kind::release_failed);
    EXPECT_EQ(report.owner_number, number);
    EXPECT_EQ(report.code, errc::unreachable);
    EXPECT_FALSE(report.text.empty());
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u);
}

TEST_F(Observer, HearsOfEachHoldOnce) {
    for (int i = 0; i < 5; ++i) {
        taken(stock).async_unlock(said{}.handler());
        settle();
    }
    EXPECT_EQ(alice.ear->count(event_kind::acquired), 5u);
    EXPECT_EQ(alice.ear->count(event_kind::released), 5u);
    EXPECT_EQ(alice.ear->all().size(), 10u);
}

TEST_F(Observer, IsToldTheServersOwnWords) {
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::wrong_type); };
    stock.async_lock(held.handler());
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.code, errc::refused);
    EXPECT_THAT(report.text, testing::HasSubstr("the server's own words"));
}

} // namespace
} // namespace holdfast::sync
