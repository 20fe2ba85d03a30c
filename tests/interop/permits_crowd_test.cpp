// SPDX-License-Identifier: Apache-2.0
// Threads of a JVM and of ours draw leased permits from one semaphore: were there ever more out
// than there are, and do all come back, those of a killed process too?
#include "interop/permits_meeting.hpp"

#include <atomic>
#include <future>
#include <random>

namespace holdfast::interop {
namespace {

class PermitsCrowd : public permits_meeting {
protected:
    static constexpr int seats = 3;
    static constexpr int rounds = 30;

    /// Takes one in all ways; each is released by itself, or by a thread of the other side.
    void visit(remote_permits gate, remote_permits of_other_side, unsigned seed) {
        std::minstd_rand random{seed};
        for (int round = 0; round < rounds; ++round) {
            const unsigned way = random() % 4;
            const std::optional<std::string> id = way == 0   ? gate.try_acquire()
                                                  : way == 1 ? gate.try_acquire_for(10ms, 1h)
                                                  : way == 2 ? gate.acquire(1h)
                                                             : gate.acquire();
            if (!id)
                continue;
            const int now = ++inside_;
            int known = most_;
            while (known < now && !most_.compare_exchange_weak(known, now)) {
            }
            const std::int64_t left = gate.available_permits(); // which takes a while
            EXPECT_GE(left, 0);
            EXPECT_LT(left, seats);
            --inside_;
            ++visits_;
            EXPECT_TRUE((random() % 3 == 0 && way != 3 ? of_other_side : gate).try_release(*id));
        }
    }

    void have_visitors(int of_each_side) {
        std::vector<std::future<void>> all;
        for (int number = 1; number <= of_each_side; ++number)
            for (remote_client* side : {&jvm(), &ours()}) {
                remote_client& other = side->is_jvm() ? ours() : jvm();
                const std::string name = "visitor " + std::to_string(number);
                const unsigned seed = static_cast<unsigned>(2 * number + (side->is_jvm() ? 1 : 0));
                all.push_back(std::async(std::launch::async,
                                         [this, gate = remote_permits{side->thread(name)},
                                          helper = remote_permits{other.thread(name + "'s helper")},
                                          seed] { visit(gate, helper, seed); }));
            }
        for (std::future<void>& each : all)
            each.get();
    }

    std::atomic<int> inside_ = 0, most_ = 0, visits_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Redisson, PermitsCrowd,
                         testing::ValuesIn(one_way_at({"getPermitExpirableSemaphore"})), name_of);

TEST_P(PermitsCrowd, NobodyDrawsWhatIsNotThereAndAllComesBack) {
    ASSERT_TRUE(of_jvm("keeper").try_set_permits(seats));
    have_visitors(4);
    EXPECT_LE(most_, seats);
    EXPECT_GT(most_, 1) << "they never met";
    EXPECT_GT(visits_, rounds);
    // What a look took for a caller who had been served meanwhile is given back behind its back.
    EXPECT_TRUE(eventually([&] { return of_jvm("keeper").available_permits() == seats; }));
    EXPECT_EQ(of_ours("keeper").available_permits(), seats);
    // What passed within our process may have passed under the number of the one before it.
    expect_counts(seats, 0);
}

TEST_P(PermitsCrowd, WhatAKilledProcessOfOursHeldComesBackWhileTheyDraw) {
    ASSERT_TRUE(of_ours("keeper").try_set_permits(seats));
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_permits holder{gone->thread("holder")};
    (void)holder.acquire();
    (void)holder.acquire();
    std::future<void> crowd = std::async(std::launch::async, [&] { have_visitors(2); });
    EXPECT_TRUE(eventually([&] { return visits_ > rounds / 2; }));
    doomed->kill();
    crowd.get();
    EXPECT_LE(most_, seats);
    EXPECT_TRUE(eventually([&] { return of_jvm("keeper").available_permits() == seats; }));
    expect_counts(seats, 0);
}

} // namespace
} // namespace holdfast::interop
