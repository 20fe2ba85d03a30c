// SPDX-License-Identifier: Apache-2.0
// Threads of a JVM and of ours draw from one semaphore: were there ever more permits out than there
// are, and are all of them there at the end?
#include "interop/counter_meeting.hpp"

#include <atomic>
#include <future>
#include <random>

namespace holdfast::interop {
namespace {

constexpr int capacity = 3;

/// What the visitors know to be out: each from the answer on, until it gives back. So there may be
/// more than this at times, and never fewer.
class room {
public:
    void enter(int count) {
        const int now = inside_ += count;
        int known = most_;
        while (known < now && !most_.compare_exchange_weak(known, now)) {
        }
        ++visits_;
    }
    void leave(int count) { inside_ -= count; }

    int most() const { return most_; }
    int visits() const { return visits_; }

private:
    std::atomic<int> inside_ = 0, most_ = 0, visits_ = 0;
};

class SemaphoreCrowd : public counter_meeting {
protected:
    static constexpr int rounds = 40;

    /// Takes one or two, in all ways, and gives them back in one or two.
    static void visit(room& inside, remote_semaphore gate, unsigned seed) {
        std::minstd_rand random{seed};
        for (int round = 0; round < rounds; ++round) {
            const int count = 1 + static_cast<int>(random() % 2);
            const unsigned way = random() % 4;
            if (way == 0 && !gate.try_acquire_for(10ms, count))
                continue;
            if (way == 1 && !gate.try_acquire(count))
                continue;
            if (way > 1)
                gate.acquire(count);
            inside.enter(count);
            const std::int64_t left = gate.available_permits(); // which takes a while
            EXPECT_GE(left, 0);
            EXPECT_LE(left, capacity - count);
            inside.leave(count);
            if (way == 3)
                for (int one = 0; one < count; ++one)
                    gate.release();
            else
                gate.release(count);
        }
    }

    /// Returns when all have been there as often as they wanted.
    void have_visitors(room& inside, int of_each_side) {
        std::vector<std::future<void>> all;
        for (int number = 1; number <= of_each_side; ++number)
            for (remote_client* side : {&jvm(), &ours()}) {
                const unsigned seed = static_cast<unsigned>(2 * number + (side->is_jvm() ? 1 : 0));
                const remote_thread visitor = side->thread("visitor " + std::to_string(number));
                all.push_back(std::async(std::launch::async, visit, std::ref(inside),
                                         remote_semaphore{visitor}, seed));
            }
        for (std::future<void>& each : all)
            each.get();
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, SemaphoreCrowd, testing::ValuesIn(one_way_at({"getSemaphore"})),
                         name_of);

TEST_P(SemaphoreCrowd, NobodyDrawsWhatIsNotThereAndAllComesBack) {
    remote_semaphore by_ours{ours().thread("keeper")}, by_jvm{jvm().thread("keeper")};
    ASSERT_TRUE(by_jvm.try_set_permits(capacity));
    room inside;
    have_visitors(inside, 4);
    EXPECT_LE(inside.most(), capacity);
    EXPECT_GT(inside.most(), 2) << "they never met";
    EXPECT_GT(inside.visits(), 2 * rounds);
    // What a look took for a caller who had been served meanwhile is given back behind its back.
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == capacity; }));
    EXPECT_EQ(by_ours.drain_permits(), capacity);
    expect_number(0);
    EXPECT_EQ(memories_of_requests(server(), "L"), 1u);
}

TEST_P(SemaphoreCrowd, AProcessOfOursThatIsKilledWhileItWaitsTakesNothingAlong) {
    remote_semaphore by_ours{ours().thread("keeper")}, by_jvm{jvm().thread("keeper")};
    ASSERT_TRUE(by_ours.try_set_permits(capacity));
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_semaphore greedy{gone->thread("greedy")};
    ongoing never = parked([&] { return greedy.begin_acquire(capacity + 1); });
    room inside;
    std::future<void> crowd = std::async(std::launch::async, [&] { have_visitors(inside, 2); });
    EXPECT_TRUE(eventually([&] { return inside.visits() > rounds; }));
    doomed->kill(); // it asks at each message, so it may be asking now
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    crowd.get();
    EXPECT_LE(inside.most(), capacity);
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == capacity; }));
    EXPECT_EQ(by_jvm.drain_permits(), capacity);
    EXPECT_EQ(by_ours.available_permits(), 0);
    expect_number(0);
}

} // namespace
} // namespace holdfast::interop
