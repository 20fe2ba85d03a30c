// SPDX-License-Identifier: Apache-2.0
#include "net/lookout.hpp"
#include "support/sim_clock.hpp"

#include <set>

#include <gmock/gmock.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class Lookout : public ::testing::Test {
protected:
    /// What has a limit keeps the lookout as long as there is one.
    void add(duration in) {
        const time_point limit = clock_.now() + in;
        limits_.insert(limit);
        lookout_.watch_for(limit, life_);
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    const time_point start_ = clock_.now();
    std::multiset<time_point> limits_;
    std::vector<duration> told_;
    bool stays_ = false; // what was told of stays a limit
    std::shared_ptr<void> life_ = std::make_shared<int>(1);
    lookout lookout_{home_,
                     [this] { return limits_.empty() ? time_point::max() : *limits_.begin(); },
                     [this](time_point now) {
                         if (!limits_.empty() && *limits_.begin() <= now)
                             told_.push_back(now - start_);
                         if (!stays_)
                             limits_.erase(limits_.begin(), limits_.upper_bound(now));
                     }};
};

TEST_F(Lookout, TellsEachLimitWhenItComes) {
    add(20ms);
    add(10ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre(10ms, 20ms));
}

TEST_F(Lookout, WakesForAnEarlierLimitThatComesWhileItSleeps) {
    add(500ms);
    clock_.run_for(100ms);
    add(50ms);
    clock_.run_for(100ms);
    EXPECT_THAT(told_, ElementsAre(150ms));
}

TEST_F(Lookout, TellsNothingOfWhatWasDoneInTime) {
    add(10ms);
    clock_.run_for(5ms);
    limits_.clear();
    clock_.run_for(1s);
    add(10ms);
    limits_.clear();
    add(20ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre(1025ms));
}

TEST_F(Lookout, DoesNotSpinAtALimitThatStays) {
    stays_ = true;
    add(10ms);
    clock_.run_for(13ms);
    EXPECT_THAT(told_, ElementsAre(10ms, 11ms, 12ms, 13ms));
    lookout_.close();
    clock_.run_for(1ms);
}

TEST_F(Lookout, KeepsWhatHasALimitUntilThereIsNone) {
    const std::weak_ptr<void> seen = life_;
    add(10ms);
    life_.reset();
    clock_.run_for(5ms);
    EXPECT_FALSE(seen.expired());
    clock_.run_for(1s);
    EXPECT_TRUE(seen.expired());
}

TEST_F(Lookout, TellsNothingOnceItIsClosed) {
    add(10ms);
    clock_.run_for(5ms);
    lookout_.close();
    add(1ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre());
}

} // namespace
} // namespace holdfast::net
