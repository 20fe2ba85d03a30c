// SPDX-License-Identifier: Apache-2.0
// Who waits for a lock in one client, and is woken by a release in another.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"

#include <holdfast/client.hpp>
#include <holdfast/shared_mutex.hpp>

#include <future>
#include <latch>
#include <limits>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// So much later whoever wants the lock has asked in vain, listens, and sleeps.
constexpr auto asleep_after = 2ms;

/// What one of them has, and what the other waits for.
template <typename Lock>
using side = basic_mutex& (*)(Lock&);

/// A sample is the time from the call that releases to the return of the one that waited.
template <typename Lock>
class relay : public contender {
public:
    relay(const arena& where, side<Lock> held, side<Lock> wanted)
        : one_{where.url()}
        , other_{where.url()}
        , held_{held(lock_of_one_)}
        , wanted_{wanted(lock_of_other_)} {}

    tally run(nanoseconds length) override {
        tally all;
        const auto begin = stopwatch::now();
        do {
            all.samples.push_back(wake_up());
            ++all.done;
        } while (stopwatch::now() < begin + length);
        all.elapsed = stopwatch::now() - begin;
        return all;
    }

    /// Or more: whoever waits has asked in vain.
    claim scripts_for(const tally& all) const override {
        return {4 * all.done, std::numeric_limits<long long>::max()};
    }

private:
    nanoseconds wake_up() {
        held_.lock();
        std::latch about_to_wait{1};
        auto returned = std::async(std::launch::async, [&] {
            about_to_wait.count_down();
            wanted_.lock();
            const auto now = stopwatch::now();
            expect_unlocked(wanted_);
            return now;
        });
        about_to_wait.wait();
        std::this_thread::sleep_for(asleep_after);
        const auto released = stopwatch::now();
        expect_unlocked(held_);
        return returned.get() - released;
    }

    client one_, other_;
    Lock lock_of_one_{one_, name_of_lock(0)}, lock_of_other_{other_, name_of_lock(0)};
    basic_mutex &held_, &wanted_;
};

basic_mutex& whole(mutex& lock) {
    return lock;
}

basic_mutex& writers(shared_mutex& lock) {
    return lock;
}

basic_mutex& readers(shared_mutex& lock) {
    return lock.shared();
}

} // namespace

made holdfast_wake_up(const arena& where) {
    return std::make_unique<relay<mutex>>(where, whole, whole);
}

made holdfast_wake_up_of_reader(const arena& where) {
    return std::make_unique<relay<shared_mutex>>(where, writers, readers);
}

made holdfast_wake_up_of_writer(const arena& where) {
    return std::make_unique<relay<shared_mutex>>(where, readers, writers);
}

} // namespace holdfast::bench
