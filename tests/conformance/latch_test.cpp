// SPDX-License-Identifier: Apache-2.0
// The contract of latch, on every store.
#include "conformance/suite.hpp"
#include "support/thrown.hpp"

#include <holdfast/latch.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::code_of;
using support::soon;

class Latch : public suite {
protected:
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Latch, counter_kind::latch);

TEST_P(Latch, IsOpenUntilItIsSetAndWhenItWasCountedDown) {
    client home = make_client();
    latch ready{home, "ready"};
    EXPECT_TRUE(ready.try_wait());
    EXPECT_EQ(ready.count(), 0);
    EXPECT_TRUE(ready.try_set_count(3));
    EXPECT_FALSE(ready.try_set_count(4));
    EXPECT_FALSE(ready.try_wait());
    ready.count_down();
    EXPECT_EQ(ready.count(), 2);
    EXPECT_EQ(store().counter("ready"), 2);
    ready.count_down(5);
    EXPECT_TRUE(ready.try_wait());
    EXPECT_EQ(store().counter("ready"), std::nullopt);
    ready.count_down();
    EXPECT_EQ(ready.count(), 0);
    EXPECT_TRUE(ready.try_set_count(1));
    ready.arrive_and_wait();
    EXPECT_FALSE(ready.erase());
}

TEST_P(Latch, RefusesCountsThatCannotBe) {
    client home = make_client();
    latch ready{home, "ready"};
    const std::size_t sent = requests_during([&] {
        for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{0}, latch::max() + 1}) {
            EXPECT_EQ(code_of([&] { (void)ready.try_set_count(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { ready.count_down(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { soon(ready.async_count_down(wrong, asio::use_future)); }),
                      errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { latch{home, ""}; }), errc::invalid_argument);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Latch, AllWhoWaitAreLetThrough) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    latch wanted{home, "ready"}, counted{other, "ready"};
    ASSERT_TRUE(counted.try_set_count(2));
    std::vector<std::future<void>> waiting;
    for (int i = 0; i < 10; ++i)
        waiting.push_back(wanted.async_wait(asio::use_future));
    ASSERT_TRUE(somebody_listens());
    (void)wanted.count(); // behind its second look
    counted.count_down();
    EXPECT_FALSE(support::is_ready(waiting.front()));
    counted.count_down();
    for (std::future<void>& each : waiting)
        soon(std::move(each));
}

TEST_P(Latch, AStrangerOpensIt) {
    client home = make_client({.poll_bound = hardly_ever});
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    std::future<void> waiting = ready.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)ready.count();
    store().stranger_counts_down("ready");
    soon(std::move(waiting));
}

TEST_P(Latch, ErasingItLetsThroughWhoWaits) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    latch wanted{home, "ready"}, erased{other, "ready"};
    ASSERT_TRUE(erased.try_set_count(1));
    std::future<void> waiting = wanted.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.count();
    EXPECT_TRUE(erased.erase());
    soon(std::move(waiting));
}

TEST_P(Latch, GivesUpInTime) {
    client home = make_client();
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    EXPECT_FALSE(ready.wait_for(30ms));
    EXPECT_FALSE(ready.wait_until(std::chrono::steady_clock::now() + 30ms));
    EXPECT_FALSE(soon(ready.async_wait_for(30ms, asio::use_future)));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(code_of([&] { ready.wait(stop.get_token()); }), asio::error::operation_aborted);
}

TEST_P(Latch, ACountDownWhoseAnswerIsLostCountsOnce) {
    options how;
    store().reach_badly(how);
    client home{std::move(how)};
    latch ready{home, "ready"};
    store().lose_answer_about("ready");
    EXPECT_TRUE(ready.try_set_count(3));
    store().lose_answer_about("ready");
    ready.count_down();
    EXPECT_EQ(store().counter("ready"), 2);
    ready.count_down(2);
    EXPECT_EQ(store().counter("ready"), std::nullopt);
}

TEST_P(Latch, AClosedClientEndsItsWaiters) {
    client home = make_client({.poll_bound = hardly_ever});
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    std::future<void> waiting = ready.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    home.close();
    EXPECT_EQ(code_of([&] { soon(std::move(waiting)); }), errc::closed);
}

} // namespace
} // namespace holdfast::conformance
