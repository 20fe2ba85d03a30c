// SPDX-License-Identifier: Apache-2.0
// Scenarios with an attempt to take the lock whose outcome is unknown.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

struct Uncertain : story {
    static asio::awaitable<void> extend_once(claim& what, duration length) {
        what.longest = std::max(what.longest, length);
        const lease_time asked{length};
        (void)co_await what.held.async_extend(asked, asio::as_tuple(asio::use_awaitable));
    }
};

TEST_F(Uncertain, AGrantWhoseAnswerWasLostIsFoundByAskingAgain) {
    alice.net.next(memory::verb::look, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_TRUE(mine);
        EXPECT_EQ(holder(), mine->what().owner);
        EXPECT_GE(now(), w.how.command_timeout);
        EXPECT_LE(now(), w.how.command_timeout + 20ms);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Uncertain, WithoutTimeToAskAgainItIsReleasedBehind) {
    alice.net.next(memory::verb::look, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = once();
        held mine = co_await take(alice, how);
        EXPECT_FALSE(mine);
        co_await sleep(10ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

// The connection breaks while the request is in flight, and the release over another connection
// arrives before the request.
TEST_F(Uncertain, ARequestThatItsOwnReleaseOvertookIsReleasedOnceMore) {
    alice.net.next(memory::verb::look, {.request_delay = 400ms, .cut_off = 1ms});
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = once();
        held mine = co_await take(alice, how);
        EXPECT_FALSE(mine);
        co_await until(500ms);
        EXPECT_NE(holder(), "") << "the late request is carried out, and nobody wants it";
        co_await until(w.how.command_timeout + 10ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

// Found by a seed: the reply to the release came late, when no request could have an effect any
// more. But the server had executed the release before the late request.
TEST_F(Uncertain, ASlowAnswerToTheReleaseDoesNotMakeTheSecondOneNeedless) {
    alice.net.next(memory::verb::look, {.request_delay = 800ms, .cut_off = 1ms});
    alice.net.next(memory::verb::release, {.answer_delay = 900ms});
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_TRUE(mine);
        co_await until(200ms);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
        EXPECT_EQ(now(), 1100ms);
        co_await sleep(50ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Uncertain, ARequestThatArrivesAfterItsDeadlineIsNotCarriedOut) {
    const duration late = w.how.command_timeout + 500ms;
    auto scene = [&]() -> asio::awaitable<void> {
        held first = co_await take(alice); // the client learns the server's clock
        EXPECT_EQ(co_await give_back(first), outcome::done);
        alice.net.next(memory::verb::look, {.request_delay = late});
        const wanted how = once();
        held mine = co_await take(alice, how);
        EXPECT_FALSE(mine);
        co_await sleep(late);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Uncertain, CancelledWhileTheAnswerIsUnderWayItCompletesAtOnceAndIsReleased) {
    alice.net.next(memory::verb::look, {.answer_delay = 300ms});
    auto scene = [&]() -> asio::awaitable<void> {
        const cancellation plot{.after = 100ms};
        held mine = co_await take(alice, {}, plot);
        EXPECT_FALSE(mine);
        EXPECT_EQ(now(), 100ms);
        EXPECT_NE(holder(), "");
        co_await until(310ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

// Found by a seed: the last attempt comes too late and is not granted, but the first attempt was
// granted, and its reply was lost.
TEST_F(Uncertain, ALateAnswerDoesNotSettleAnEarlierLook) {
    auto scene = [&]() -> asio::awaitable<void> {
        held first = co_await take(alice); // the client learns the server's clock
        EXPECT_EQ(co_await give_back(first), outcome::done);
        alice.net.next(memory::verb::look, {.answer_lost = true});
        alice.net.next(memory::verb::look, {.request_delay = 100ms});
        alice.net.next(memory::verb::look, {.request_delay = 100ms});
        const wanted how = at_most(w.how.command_timeout + 50ms);
        held mine = co_await take(alice, how);
        EXPECT_FALSE(mine);
        co_await sleep(200ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Uncertain, AReleaseWhoseAnswerWasLostIsRepeated) {
    alice.net.next(memory::verb::release, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
        EXPECT_GE(now(), w.how.command_timeout);
        EXPECT_LE(now(), w.how.command_timeout + 20ms);
    };
    play(scene);
}

// Found by a seed: the server executes a renewal, and its reply is lost.
TEST_F(Uncertain, AReleaseIsRepeatedAsLongAsTheLastRenewalMayLast) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        const duration lease = w.how.lease_time;
        alice.net.next(memory::verb::renew, {.refused = true});
        alice.net.next(memory::verb::renew, {.refused = true});
        alice.net.next(memory::verb::renew, {.refused = true});
        alice.net.next(memory::verb::renew, {.answer_lost = true});
        while (inspect(w.server, w.name_of(0))->remaining < lease - 1s || now() < lease / 2)
            co_await sleep(10ms);
        alice.net.cut(true);
        EXPECT_EQ(co_await give_back(mine), outcome::unreachable);
        co_await until(lease + 1s);
        alice.net.mend();
        co_await sleep(1100ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

// Found by a seed: the server executes an extension, but the lease ends before the client gets the
// reply. The client then released the lock only for the time of the shorter lease.
TEST_F(Uncertain, AnExtensionThatWasNotAnsweredIsReleasedAfterItsHoldIsLost) {
    const duration term = w.how.command_timeout / 2;
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = fixed(term);
        held mine = co_await take(alice, how);
        co_await until(term - 100ms);
        alice.net.next(memory::verb::renew, {.answer_lost = true});
        w.play(extend_once(mine->what(), w.how.lease_time));
        co_await until(term - 50ms);
        alice.net.cut(true);
        co_await until(term + w.how.command_timeout);
        EXPECT_TRUE(mine->what().told_lost);
        EXPECT_NE(holder(), "");
        alice.net.mend();
        co_await sleep(1100ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Uncertain, AnUnlockThatIsNotAcknowledgedGoesOnInTheBackground) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        alice.net.cut(true);
        const duration began = now();
        EXPECT_EQ(co_await give_back(mine), outcome::unreachable);
        EXPECT_GE(now() - began, w.how.release_timeout);
        EXPECT_LE(now() - began, w.how.release_timeout + w.how.command_timeout);
        EXPECT_NE(holder(), "");
        alice.net.mend();
        co_await sleep(1100ms);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

} // namespace
} // namespace holdfast::sim
