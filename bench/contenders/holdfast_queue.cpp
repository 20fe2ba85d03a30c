// SPDX-License-Identifier: Apache-2.0
// One lock that many threads want. Each thread has its own client, and so its own entry in the
// server's queue.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>

#include <algorithm>
#include <deque>
#include <thread>

namespace holdfast::bench {
namespace {

class clients_in_queue final : public contender {
public:
    explicit clients_in_queue(const arena& where) {
        for (int i = 0; i < where.at_once; ++i)
            members_.emplace_back(where.url());
    }

    /// Measures the time from one thread's release until the next thread has the lock.
    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(members_.size()), length, [this](int i) {
            const auto asked = stopwatch::now();
            members_[i].lock.lock();
            const nanoseconds waited = stopwatch::now() - std::max(asked, released_at_);
            std::this_thread::sleep_for(hold(i));
            released_at_ = stopwatch::now();
            expect_unlocked(members_[i].lock);
            return waited;
        });
    }

private:
    struct member {
        explicit member(const std::string& url)
            : home{url} {}
        client home;
        mutex lock{home, name_of_lock(0)};
    };

    /// Returns how long to hold the lock: one to three milliseconds, the same as Curator's side.
    std::chrono::milliseconds hold(int i) {
        return std::chrono::milliseconds{1 + (7 * i + turns_++) % 3};
    }

    std::deque<member> members_;        // a deque does not move its elements
    stopwatch::time_point released_at_; // guarded only by the measured lock, like `turns_`
    int turns_ = 0;
};

} // namespace

made holdfast_queue(const arena& where) {
    return std::make_unique<clients_in_queue>(where);
}

} // namespace holdfast::bench
