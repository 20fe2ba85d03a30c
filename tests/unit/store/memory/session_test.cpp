// SPDX-License-Identifier: Apache-2.0
// A server that keeps holds by session: what ends them, and what prolongs them.
#include "memory_world.hpp"
#include "support/renewed.hpp"

#include <stdexcept>

namespace holdfast::memory {
namespace {

struct MemorySession : testing::Test {
    asio::io_context io;
    sim::sim_clock clock{io};
    server there{clock};
    fate of_all{};        ///< of Alice's requests
    std::string silent{}; ///< but about that name nothing is heard
    std::optional<guest> alice, bob;

    MemorySession() {
        there.keep_by_session(10s);
        const auto meets = [this](const request& r) {
            return r.name == silent ? fate{.request_lost = true} : of_all;
        };
        alice.emplace(io, clock, there.connect(meets), 'a');
        bob.emplace(io, clock, there.connect(), 'b');
    }

    void play(asio::awaitable<void> story) {
        bool ended = false;
        asio::co_spawn(io, std::move(story), [&ended](const std::exception_ptr& e) {
            ended = true;
            if (e)
                std::rethrow_exception(e);
        });
        for (clock.run_for(0ms); !ended;)
            clock.run_for(100ms);
    }
    answer taken(guest& who, ask want) {
        answer said;
        play([](MemorySession&, guest& of, ask wanted, answer& to) -> asio::awaitable<void> {
            const auto spot = of.home->locks().line_up(std::move(wanted), *of.wake);
            to = co_await spot->look();
        }(*this, who, std::move(want), said));
        return said;
    }
    static ask of_kind(guest& who, std::string name, lock_kind kind) {
        ask want{std::move(name), who.id, kind};
        want.lease_time = 3s;
        return want;
    }
    error_code release(guest& who, hold what) {
        error_code came_of_it;
        play([](guest& of, hold its, error_code& to) -> asio::awaitable<void> {
            try {
                (void)co_await of.home->locks().release(std::move(its));
            } catch (const boost::system::system_error& e) {
                to = e.code();
            }
        }(who, std::move(what), came_of_it));
        return came_of_it;
    }
    error_code release(guest& who, std::string name) { return release(who, who.held(name)); }
    void ask_about_something(guest& who) {
        play([](guest& of) -> asio::awaitable<void> {
            (void)co_await of.home->operators_view().inspect("something else");
        }(who));
    }
};

TEST_F(MemorySession, AGrantHasTheSessionWhateverWasAskedFor) {
    EXPECT_EQ(taken(*alice, alice->wants("stock", 3s)).term, 10s);
    EXPECT_EQ(there.inspect("stock")->remaining, 10s);
    EXPECT_EQ(taken(*alice, alice->wants("more", 1h)).term, 10s);
    EXPECT_TRUE(alice->home->locks().bounds().by_session);
    EXPECT_EQ(alice->home->locks().bounds().replicas_max, 0);
}

TEST_F(MemorySession, AnyRequestOfItsClientProlongsAllThatItHolds) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    for (const lock_kind kind : {lock_kind::read, lock_kind::write, lock_kind::token})
        ASSERT_TRUE(
            taken(*alice, of_kind(*alice, std::to_string(static_cast<int>(kind)), kind)).granted);
    for (int i = 0; i < 5; ++i) {
        clock.run_for(9s);
        ask_about_something(*alice);
    }
    EXPECT_EQ(there.held_count(), 4u);
    clock.run_for(9s);
    ask_about_something(*bob);
    clock.run_for(1s);
    EXPECT_EQ(there.held_count(), 0u);
}

TEST_F(MemorySession, WhatHasEndedIsNotProlonged) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    clock.run_for(10s);
    ask_about_something(*alice);
    EXPECT_FALSE(there.inspect("stock"));
    EXPECT_TRUE(taken(*bob, bob->wants("stock", 3s)).granted);
}

TEST_F(MemorySession, AQuestionIsAnsweredWithTheRestOfIt) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    play([](guest& of) -> asio::awaitable<void> {
        const hold mine = of.held("stock");
        const hold* const one[] = {&mine};
        single_renewal outcome;
        co_await of.home->locks().renew(one, {}, outcome);
        EXPECT_TRUE(outcome.said().granted);
        EXPECT_EQ(outcome.said().term, 10s);
    }(*alice));
}

TEST_F(MemorySession, AReleaseThatWasNotAcknowledgedIsRepeated) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    of_all.denied = true;
    EXPECT_EQ(release(*alice, "stock"), errc::refused);
    clock.run_for(1min);
    EXPECT_TRUE(there.inspect("stock")) << "each of them prolongs the session";
    of_all = {};
    clock.run_for(1s);
    EXPECT_FALSE(there.inspect("stock"));
}

TEST_F(MemorySession, SoIsALeaving) {
    play([](MemorySession& w) -> asio::awaitable<void> {
        const auto spot = w.alice->line_up("stock", 3s);
        (void)co_await spot->look();
        w.of_all.refused = true;
        try {
            co_await spot->leave();
        } catch (const boost::system::system_error&) {
            w.of_all = {};
        }
    }(*this));
    clock.run_for(1s);
    EXPECT_FALSE(there.inspect("stock"));
}

// What was found by a seed.
TEST_F(MemorySession, OneThatIsNotAnsweredKeepsNoOtherWaiting) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    ask more = alice->wants("more", 3s);
    ++more.owner.number;
    ASSERT_TRUE(taken(*alice, more).granted);
    of_all.denied = true;
    EXPECT_EQ(release(*alice, "stock"), errc::refused);
    EXPECT_EQ(release(*alice, static_cast<const hold&>(more)), errc::refused);
    of_all = {};
    silent = "stock";
    clock.run_for(1s);
    EXPECT_FALSE(there.inspect("more"));
}

TEST_F(MemorySession, ARepetitionEndsWithTheClient) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    of_all.request_lost = true;
    EXPECT_EQ(release(*alice, "stock"), errc::outcome_unknown);
    alice->home->close();
    clock.run_for(10s);
    EXPECT_FALSE(there.inspect("stock")) << "nothing prolongs it any more";
}

TEST_F(MemorySession, AFencedGrantHasOneTokenThatOperatorsSee) {
    ask want = of_kind(*alice, "stock", lock_kind::fenced);
    want.tokens = 50;
    const answer said = taken(*alice, want);
    EXPECT_EQ(said.tokens, 1u);
    play([](guest& of, std::uint64_t token) -> asio::awaitable<void> {
        const auto state = co_await of.home->operators_view().describe("stock");
        EXPECT_EQ(state->token, token);
        EXPECT_EQ(state->last_token, token);
    }(*bob, said.token));
}

TEST_F(MemorySession, ThereAreNoReplicas) {
    EXPECT_THROW(there.replicate(1), std::logic_error);
    server replicated{clock};
    replicated.replicate(1);
    EXPECT_THROW(replicated.keep_by_session(10s), std::logic_error);
}

} // namespace
} // namespace holdfast::memory
