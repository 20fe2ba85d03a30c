// SPDX-License-Identifier: Apache-2.0
// Network faults between a client and the memory server, and what the caller is told.
#include "memory_world.hpp"
#include "store/memory/server_state.hpp"
#include "support/holds.hpp"

namespace holdfast::memory {
namespace {

struct MemoryFaults : MemoryWorld {
    const duration timeout = 3s; // the default
    std::unique_ptr<place> spot = alice.line_up("stock", 30s);

    asio::awaitable<error_code> look() { co_return co_await failure_of(spot->look()); }
    std::string owner() const {
        const auto seen = inspect(there, "stock");
        return seen ? seen->owners.at(0) : std::string{};
    }
    bool is_alices() const { return owner() == to_string(alice.id); }
};

TEST_F(MemoryFaults, DelaysOfBothWaysAddUp) {
    fates = {{.request_delay = 300ms, .answer_delay = 500ms}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await w.spot->look()).granted);
        EXPECT_EQ(w.passed(), 800ms);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 30s - 500ms);
    }(*this));
}

TEST_F(MemoryFaults, ARefusedRequestIsNotSentAndKnownNotToBe) {
    fates = {{.refused = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::unreachable);
        EXPECT_EQ(w.passed(), 0ms);
        EXPECT_FALSE(w.spot->uncertain());
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryFaults, ALostRequestIsNeverExecuted) {
    fates = {{.request_lost = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), w.timeout);
        EXPECT_TRUE(w.spot->uncertain());
        EXPECT_EQ(w.spot->settled_at(), w.start + w.timeout);
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryFaults, ARenewalIsNotWaitedForLongerThanItsAnswerIsOfUse) {
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        (void)co_await w.spot->look();
        w.fates = {{.answer_delay = 2s}};
        const hold mine = w.alice.held("stock");
        const hold* const one[] = {&mine};
        const renewal_options how{.lease_time = 60s, .answer_by = w.clock.now() + 700ms};
        single_renewal outcome;
        co_await w.alice.home->locks().renew(one, how, outcome);
        EXPECT_EQ(w.passed(), 700ms);
        EXPECT_THROW((void)outcome.said(), boost::system::system_error);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 60s - 700ms) << "it was carried out";
    }(*this));
}

TEST_F(MemoryFaults, ALostAnswerIsFoundByLookingAgain) {
    fates = {{.answer_lost = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        EXPECT_TRUE(w.is_alices());
        EXPECT_TRUE((co_await w.spot->look()).granted);
        EXPECT_EQ(w.passed(), w.timeout);
    }(*this));
}

TEST_F(MemoryFaults, LeavingAfterALostAnswerLeavesNothing) {
    fates = {{.answer_lost = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        co_await w.spot->leave();
        EXPECT_EQ(held_count(w.there), 0u);
        EXPECT_TRUE(w.spot->uncertain()); // the release says nothing of a look still on its way
    }(*this));
}

TEST_F(MemoryFaults, AnAnswerThatTakesTooLongIsNoAnswer) {
    fates = {{.answer_delay = 3001ms}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), w.timeout);
        EXPECT_TRUE(w.is_alices());
    }(*this));
}

TEST_F(MemoryFaults, ALateRequestIsExecutedThoughItsCallerGaveUp) {
    fates = {{.answer_lost = true}, {.request_delay = 5s}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        EXPECT_EQ(co_await failure_of(w.alice.home->locks().release(w.alice.held("stock"))),
                  errc::outcome_unknown);
        EXPECT_TRUE(w.is_alices());
        co_await w.sleep_for(2s);
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryFaults, ALateLookIsNotGranted) {
    fates = {{.request_delay = 3001ms}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        co_await w.sleep_for(10s);
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryFaults, ALookOvertakenByItsReleaseIsGrantedAllTheSameUntilItsDeadline) {
    fates = {{.request_delay = 1s, .cut_off = 100ms}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), 100ms);
        EXPECT_EQ(held_count(w.there), 0u);
        co_await w.spot->leave();
        EXPECT_TRUE(w.spot->uncertain());
        EXPECT_EQ(w.spot->settled_at(), w.start + w.timeout);
        co_await w.sleep_for(1s);
        EXPECT_TRUE(w.is_alices()); // so whoever left releases once more
    }(*this));
}

TEST_F(MemoryFaults, AnAnswerDoesNotSettleAnEarlierRequestThatMayStillArrive) {
    fates = {{.request_lost = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 60s);
        EXPECT_EQ(co_await w.look(), errc::outcome_unknown); // until exactly its deadline
        EXPECT_FALSE((co_await w.spot->look()).granted);
        EXPECT_TRUE(w.spot->uncertain());
        co_await w.sleep_for(1ms);
        EXPECT_FALSE((co_await w.spot->look()).granted);
        EXPECT_FALSE(w.spot->uncertain());
    }(*this));
}

TEST_F(MemoryFaults, ARequestExecutedTwiceChangesNothing) {
    fates = {{.executed_again = 1s}, {}, {.executed_again = 1s}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await w.spot->look()).granted);
        co_await w.sleep_for(1s);
        EXPECT_EQ(held_count(w.there), 1u);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 30s); // the second look, too, is one
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_FALSE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_TRUE((co_await w.bob.line_up("stock")->look()).granted);
        co_await w.sleep_for(1s);
        EXPECT_EQ(w.owner(), to_string(w.bob.id));
    }(*this));
}

TEST_F(MemoryFaults, RequestsKeepTheirOrderUnlessADelayBreaksIt) {
    fates = {{.request_delay = 100ms}, {}};
    auto renew = [](MemoryFaults& w) -> asio::awaitable<void> {
        const hold held = w.alice.held("stock");
        const hold* const mine[] = {&held};
        const auto said = co_await support::renewed(w.alice.home->locks(), mine, 30s);
        EXPECT_FALSE(said.at(0).granted); // released before it arrived
    };
    auto release = [](MemoryFaults& w) -> asio::awaitable<void> {
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
    };
    primary_state(there)->look(alice.wants("stock", 30s), std::nullopt);
    asio::co_spawn(io, renew(*this), asio::detached);
    play(release(*this));
}

TEST_F(MemoryFaults, ALostWakeUpIsLostOnce) {
    fates = {{.wake_up_lost = true}};
    play([](MemoryFaults& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 60s);
        (void)co_await w.spot->look();
        (void)co_await w.spot->look();
        w.there.vacate("stock");
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
        w.there.occupy("stock", 60s);
        w.there.vacate("stock");
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryFaults, TheFaultFunctionIsToldWhomARequestIsAbout) {
    std::vector<std::string> told;
    guest carol{io, clock, there.connect([&told](const request& r) {
                    told.push_back(std::to_string(static_cast<int>(r.what)) + ' ' +
                                   std::string{r.name} + ' ' + std::to_string(r.holds.size()) +
                                   ' ' + std::to_string(r.lease_time.count()));
                    return fate{};
                }),
                'c'};
    play([](guest& of) -> asio::awaitable<void> {
        const auto place_of_hers = of.line_up("a", 7s);
        (void)co_await place_of_hers->look();
        const hold a = of.held("a"), b = of.held("b");
        const hold* const both[] = {&a, &b};
        (void)co_await support::renewed(of.home->locks(), both, 8s);
        (void)co_await of.home->operators_view().inspect("a");
        (void)co_await of.home->operators_view().force_release("a", {});
        (void)co_await of.home->locks().release(of.held("a"));
    }(carol));
    EXPECT_EQ(told, (std::vector<std::string>{"0 a 1 7000", "1 a 2 8000", "3 a 0 0", "4 a 0 0",
                                              "2 a 1 0"}));
}

} // namespace
} // namespace holdfast::memory
