// SPDX-License-Identifier: Apache-2.0
// The yardstick of local hand-off: a fair lock of this process and nothing else. Who waits sleeps,
// who leaves wakes the one that has waited longest. What remains is the kernel's way from one
// thread to another.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/one_lock.hpp"
#include "runtime/semaphore.hpp"

#include <deque>
#include <mutex>
#include <utility>

namespace holdfast::bench {
namespace {

/// No thread overtakes another, as at holdfast's gate; std::mutex lets whoever is awake go first.
class fair_lock {
public:
    void lock() {
        runtime::semaphore my_turn;
        {
            const std::scoped_lock alone{mutex_};
            if (!std::exchange(held_, true))
                return;
            waiting_.push_back(&my_turn);
        }
        my_turn.wait();
    }

    void unlock() {
        std::unique_lock alone{mutex_};
        if (waiting_.empty()) {
            held_ = false;
            return;
        }
        runtime::semaphore& next = *waiting_.front();
        waiting_.pop_front();
        alone.unlock(); // else who is woken would only sleep again, here
        next.post();
    }

private:
    std::mutex mutex_;
    std::deque<runtime::semaphore*> waiting_;
    bool held_ = false;
};

class bare_crowd : public contender {
public:
    explicit bare_crowd(const arena& where)
        : threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        return through_one_lock(
            threads_, length, [this] { lock_.lock(); }, [this] { lock_.unlock(); });
    }

    claim scripts_for(const tally&) const override { return {0, 0}; }

private:
    fair_lock lock_;
    const int threads_;
};

} // namespace

made bare_hand_off(const arena& where) {
    return std::make_unique<bare_crowd>(where);
}

} // namespace holdfast::bench
