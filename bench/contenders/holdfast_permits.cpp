// SPDX-License-Identifier: Apache-2.0
// Threads that take leased permits from one semaphore, or permits from one rate limiter.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <atomic>
#include <limits>
#include <stdexcept>

namespace holdfast::bench {
namespace {

/// Measures the time that a thread waits for a permit. Throws if more threads hold a permit than
/// there are permits.
class permits_crowd final : public contender {
public:
    explicit permits_crowd(const arena& where)
        : client_{where.url()}
        , threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        if (!seats_.try_set_permits(permits))
            throw std::runtime_error{"there was a semaphore already"};
        tally all = in_threads(threads_, length, [this](int) { return pair(); });
        seats_.erase();
        return all;
    }

    /// Returns the lower limit: at least one pair uses the server, as in holdfast_semaphore.cpp.
    claim scripts_for(const tally&) const override {
        return {2, std::numeric_limits<long long>::max()};
    }

private:
    static constexpr int permits = 8;

    nanoseconds pair() {
        lease mine;
        const nanoseconds waited = time_of([&] { mine = seats_.acquire(); });
        if (++inside_ > permits)
            throw std::runtime_error{"more were inside than there are permits"};
        --inside_;
        mine.unlock();
        return waited;
    }

    client client_;
    leased_semaphore seats_{client_, name_of_lock(0)};
    const int threads_;
    std::atomic<int> inside_ = 0;
};

/// Measures the time that a thread waits for a permit of the rate limiter.
class rate_crowd final : public contender {
public:
    explicit rate_crowd(const arena& where)
        : client_{where.url()}
        , threads_{where.at_once} {}

    tally run(nanoseconds length) override {
        if (!limiter_.try_set_rate({.permits = draws_of_a_rate, .per = duration{100}}))
            throw std::runtime_error{"there was a rate limiter already"};
        tally all = in_threads(threads_, length,
                               [this](int) { return time_of([this] { limiter_.acquire(); }); });
        limiter_.erase();
        return all;
    }

    /// Returns no upper limit, because a thread that finds no permit has run a script without
    /// success.
    claim scripts_for(const tally& all) const override {
        return {all.done, std::numeric_limits<long long>::max()};
    }

private:
    client client_;
    rate_limiter limiter_{client_, name_of_lock(0)};
    const int threads_;
};

} // namespace

made holdfast_permits(const arena& where) {
    return std::make_unique<permits_crowd>(where);
}

made holdfast_rate(const arena& where) {
    return std::make_unique<rate_crowd>(where);
}

} // namespace holdfast::bench
