// SPDX-License-Identifier: Apache-2.0
// Counters on a bad way to the server: whatever was carried out counts once, and who waits is
// served when the server is back.
#include "chaos/on_proxy.hpp"

#include <boost/asio/use_future.hpp>

#include <future>

namespace holdfast::chaos {
namespace {

class Counting : public on_proxy {
protected:
    using on_proxy::on_proxy;

    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        seats_.emplace(*home_, "L");
    }

    std::int64_t count() { return std::stoll(server().command({"GET", "L"}).text); }
    void set(int number) { server().command({"SET", "L", std::to_string(number)}); }

    /// Each time, the number is what `once` makes of 100.
    template <typename Once>
    void counts_once_cut_at_each_byte(way where, std::int64_t made, Once once) {
        cut_at_every_byte(
            where, [this] { set(100); }, once, [this, made] { EXPECT_EQ(count(), made); });
    }

    std::optional<client> home_;
    std::optional<counting_semaphore> seats_;
};
HOLDFAST_ON_EACH_SERVER(Counting);

TEST_P(Counting, AReleaseThatIsAskedForAtEachByteCountsOnce) {
    counts_once_cut_at_each_byte(way::requests, 103, [&] { seats_->release(3); });
}

TEST_P(Counting, AReleaseThatIsAnsweredAtEachByteCountsOnce) {
    counts_once_cut_at_each_byte(way::answers, 103, [&] { seats_->release(3); });
}

TEST_P(Counting, AnAcquisitionThatIsAskedForAtEachByteTakesOnce) {
    counts_once_cut_at_each_byte(way::requests, 97, [&] { seats_->acquire(3); });
}

TEST_P(Counting, AnAcquisitionThatIsAnsweredAtEachByteTakesOnce) {
    counts_once_cut_at_each_byte(way::answers, 97, [&] { seats_->acquire(3); });
}

TEST_P(Counting, DownThatIsAnsweredAtEachByteCountsOnce) {
    latch gate{*home_, "L"};
    counts_once_cut_at_each_byte(way::answers, 98, [&] { gate.count_down(2); });
}

TEST_P(Counting, AReleaseWhoseAnswerIsLostCountsOnce) {
    set(1);
    proxy().lose_answer_to("add");
    seats_->release();
    EXPECT_EQ(count(), 2);
}

// [N4]
TEST_P(Counting, AReleaseThatIsHeldUpAndGivenUpDoesNothingAfterwards) {
    options how = through_proxy();
    how.unavailable_patience = 1ms;
    how.close_patience = 0ms;
    client hasty{how};
    counting_semaphore seats{hasty, "L"};
    set(1);
    seats.release();
    proxy().hold_back();
    const error_code failed = thrown_by([&] { seats.release(); }).code;
    EXPECT_EQ(failed, errc::outcome_unknown);
    hasty.close();
    EXPECT_GT(proxy().bytes_held(), 0U);
    server().command({"CONFIG", "RESETSTAT"});
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > 0; })) << "nothing has arrived";
    EXPECT_EQ(count(), 2);
}

class CountingOutage : public Counting {
protected:
    CountingOutage()
        : Counting{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}

    void await_listener(const std::string& channel) {
        ASSERT_TRUE(eventually([&] {
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        }));
    }
    void restart() {
        server().stop();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
        server().start();
    }
};
HOLDFAST_ON_EACH_SERVER(CountingOutage);

TEST_P(CountingOutage, WhoWaitsForAPermitIsServedAfterIt) {
    client other{directly()};
    counting_semaphore theirs{other, "L"};
    set(0);
    std::future<void> waits = seats_->async_acquire(2, asio::use_future);
    await_listener("redisson_sc:{L}");
    restart();
    EXPECT_FALSE(support::is_ready(waits));
    theirs.release(3);
    soon(std::move(waits));
    EXPECT_EQ(count(), 1);
}

TEST_P(CountingOutage, WhoWaitsForALatchGoesOnAfterIt) {
    client other{directly()};
    latch mine{*home_, "gate"}, theirs{other, "gate"};
    ASSERT_TRUE(theirs.try_set_count(1));
    std::future<void> waits = mine.async_wait(asio::use_future);
    await_listener("redisson_countdownlatch__channel__{gate}");
    restart();
    EXPECT_FALSE(support::is_ready(waits));
    theirs.count_down();
    soon(std::move(waits));
}

} // namespace
} // namespace holdfast::chaos
