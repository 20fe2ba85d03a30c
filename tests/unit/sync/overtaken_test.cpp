// SPDX-License-Identifier: Apache-2.0
// A release that was sent and is not acknowledged yet: the next request of its client may overtake
// it on another connection, and is then told that its own client's last hold is in the way.
#include "sync/release.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::sync {
namespace {

class Overtaken : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    mutex stock{alice, "stock", deferred_release};
    lease held = taken(stock);
    said<> released;

    /// As a thread does that waits for no release, and has sent it itself.
    void send_off(fate met) {
        const std::shared_ptr<engine> home = alice.inside.lock();
        const std::shared_ptr<wire_hold> leaving = home->queues().held_under("stock").at(0);
        alice.planned.emplace_back(verb::release, met);
        held.async_unlock(released.handler());
        settle();
        home->release_sent_off(*leaving);
    }
    said<std::optional<lease>> tried() {
        said<std::optional<lease>> outcome;
        stock.async_try_lock(outcome.handler());
        settle();
        return outcome;
    }
};

TEST_F(Overtaken, ATryThatFindsItsOwnLastHoldIsRepeatedBehindTheRelease) {
    send_off({.request_delay = 20ms});
    const auto next = tried();
    EXPECT_FALSE(next.done()) << "what was busy may be its own hold";
    run_for(20ms);
    ASSERT_TRUE(next.well());
    ASSERT_TRUE(next.value());
    EXPECT_EQ(server.inspect("stock")->owners.at(0), next.value()->owner());
    EXPECT_EQ(alice.count(verb::look), 3u) << "one took it, one came too early, one behind";
    EXPECT_TRUE(released.well());
}

TEST_F(Overtaken, ATryThatFindsARivalBehindTheReleaseIsBusy) {
    send_off({.answer_delay = 20ms});
    server.occupy("stock", 1h);
    const auto next = tried();
    run_for(20ms);
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value());
    EXPECT_EQ(alice.count(verb::look), 3u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Overtaken, ATryBehindAnAcknowledgedReleaseIsAnsweredAtOnce) {
    send_off({});
    server.occupy("stock", 1h);
    const auto next = tried();
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value());
    EXPECT_EQ(alice.count(verb::look), 2u);
}

TEST_F(Overtaken, ATryIsToldOnceNobodyKnowsWhatBecameOfTheRelease) {
    send_off({.request_lost = true});
    const auto next = tried();
    run_for(1s - 1ms);
    EXPECT_FALSE(next.done());
    run_for(1ms);
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value()) << "it is held until the release is repeated";
    run_for(2s);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Overtaken, ATryThatComesBesideTheReleaseOfItsOwnThreadIsAdmittedBehindIt) {
    const std::shared_ptr<engine> home = alice.inside.lock();
    const std::shared_ptr<wire_hold> leaving = home->queues().held_under("stock").at(0);
    leaving->announce_release();
    said<std::optional<lease>> next;
    stock.async_try_lock(next.handler());
    asio::post(io, [this, leaving] {
        leaving->release_unwaited(io.get_executor(), [] { return false; });
    });
    settle();
    ASSERT_TRUE(next.well());
    EXPECT_TRUE(next.value());
}

TEST_F(Overtaken, WhoWaitsForTheReleaseMayBeCancelledAndTheClientClosed) {
    send_off({.request_delay = 20ms});
    const auto next = tried();
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(next.failed(errc::closed));
    run_for(5s);
    EXPECT_TRUE(closed.done());
}

} // namespace
} // namespace holdfast::sync
