// SPDX-License-Identifier: Apache-2.0
// Threads of a JVM and of ours meet at one latch after the other: is nobody let through before all
// have come, and everybody then?
#include "interop/counter_meeting.hpp"

#include <array>
#include <atomic>
#include <future>

namespace holdfast::interop {
namespace {

class LatchCrowd : public counter_meeting {
protected:
    static constexpr int of_each_side = 4;
    static constexpr std::size_t rounds = 15;

    static remote_latch latch_of(const remote_thread& by, std::size_t round) {
        return remote_latch{by, "round " + std::to_string(round)};
    }

    void come(const remote_thread& visitor) {
        for (std::size_t round = 0; round < rounds; ++round) {
            remote_latch latch = latch_of(visitor, round);
            ++came_[round];
            latch.count_down();
            latch.wait();
            EXPECT_EQ(came_[round], 2 * of_each_side) << "let through early";
        }
    }

private:
    std::array<std::atomic<int>, rounds> came_{};
};
INSTANTIATE_TEST_SUITE_P(Redisson, LatchCrowd, testing::ValuesIn(one_way_at({"getCountDownLatch"})),
                         name_of);

TEST_P(LatchCrowd, NobodyIsLetThroughBeforeAllHaveCome) {
    for (std::size_t round = 0; round < rounds; ++round) {
        remote_client& setter = round % 2 == 0 ? jvm() : ours();
        ASSERT_TRUE(latch_of(setter.thread("setter"), round).try_set_count(2 * of_each_side));
    }
    std::vector<std::future<void>> all;
    for (int number = 1; number <= of_each_side; ++number)
        for (remote_client* side : {&jvm(), &ours()}) {
            const remote_thread visitor = side->thread("visitor " + std::to_string(number));
            all.push_back(std::async(std::launch::async, [this, visitor] { come(visitor); }));
        }
    for (std::future<void>& each : all)
        each.get();
    expect_nothing();
}

} // namespace
} // namespace holdfast::interop
