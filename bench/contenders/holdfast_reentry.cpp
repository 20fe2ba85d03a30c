// SPDX-License-Identifier: Apache-2.0
// A lock that its holder enters repeatedly.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <mutex>

namespace holdfast::bench {
namespace {

/// Number of re-entries in one sample. The sample is their mean. Reading the clock for each
/// re-entry would take as long as the re-entry.
constexpr int between_looks = 1000;

class holder : public contender {
public:
    explicit holder(const arena& where)
        : client_{where.url()}
        , lock_{client_, name_of_lock(0)} {}

    tally run(nanoseconds length) override {
        const std::scoped_lock outer{lock_};
        tally all;
        all.elapsed = time_of([&] {
            const auto end = stopwatch::now() + length;
            do {
                const nanoseconds took = time_of([this] { enter_and_leave(between_looks); });
                all.samples.push_back(took / between_looks);
                all.done += between_looks;
            } while (stopwatch::now() < end);
        });
        return all;
    }

    /// Returns two scripts: lock and unlock of the outer lock.
    claim scripts_for(const tally&) const override { return {2, 2}; }

private:
    void enter_and_leave(int times) {
        for (int i = 0; i < times; ++i) {
            lock_.lock();
            expect_unlocked(lock_);
        }
    }

    client client_;
    recursive_mutex lock_;
};

} // namespace

made holdfast_reentry(const arena& where) {
    return std::make_unique<holder>(where);
}

} // namespace holdfast::bench
