// SPDX-License-Identifier: Apache-2.0
// Yardstick of the local hand-over: a fair lock inside this process, without a server. A waiter
// sleeps, and an unlock wakes the thread that has waited longest. This measures the time that the
// kernel needs to switch threads.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/one_lock.hpp"
#include "runtime/process.hpp"

#include <deque>
#include <mutex>
#include <utility>

namespace holdfast::bench {
namespace {

/// Fair lock: no thread overtakes another thread, as in holdfast's local queue. std::mutex is not
/// fair: a running thread may overtake sleeping waiters.
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
        alone.unlock(); // otherwise the woken thread would wait for this mutex again
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
