// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/contender.hpp"

#include <holdfast/client.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <atomic>
#include <limits>
#include <stdexcept>

// Contenders whose threads use one semaphore, or wait for a permit or a latch.

namespace holdfast::bench {
namespace {

/// Measures the time that a thread waits for a permit. Throws if more threads hold a permit than
/// there are permits.
class semaphore_crowd final : public contender {
public:
    semaphore_crowd(const arena& where, int permits)
        : client_{where.url()}
        , server_{where.connect()}
        , threads_{where.at_once}
        , permits_{permits} {}

    tally run(nanoseconds length) override {
        ask(server_, {"SET", name_of_lock(0), std::to_string(permits_)});
        tally all = in_threads(threads_, length, [this](int) { return pair(); });
        ask(server_, {"DEL", name_of_lock(0)});
        return all;
    }

    /// The minimum is two scripts, because permits can be passed on within the process. There is no
    /// maximum number: a thread that finds no permit runs additional scripts.
    claim scripts_for(const tally&) const override {
        return {2, std::numeric_limits<long long>::max()};
    }

private:
    nanoseconds pair() {
        const nanoseconds waited = time_of([this] { seats_.acquire(); });
        if (++inside_ > permits_)
            throw std::runtime_error{"more were inside than there are permits"};
        --inside_;
        seats_.release();
        return waited;
    }

    client client_;
    counting_semaphore seats_{client_, name_of_lock(0)};
    connection server_;
    const int threads_, permits_;
    std::atomic<int> inside_ = 0;
};

class permit_relay final : public relay {
public:
    explicit permit_relay(const arena& where)
        : one_{where.url()}
        , other_{where.url()}
        , server_{where.connect()} {}

    tally run(nanoseconds length) override {
        ask(server_, {"SET", name_of_lock(0), "1"});
        tally all = relay::run(length);
        ask(server_, {"DEL", name_of_lock(0)});
        return all;
    }

private:
    void hold_back() override { of_one_.acquire(); }
    void wait() override { of_other_.acquire(); }
    void give_back() override { of_other_.release(); }
    void let_go_on() override { of_one_.release(); }

    client one_, other_;
    counting_semaphore of_one_{one_, name_of_lock(0)}, of_other_{other_, name_of_lock(0)};
    connection server_;
};

class latch_relay final : public relay {
public:
    explicit latch_relay(const arena& where)
        : one_{where.url()}
        , other_{where.url()} {}

private:
    void hold_back() override {
        if (!of_one_.try_set_count(1))
            throw std::runtime_error{"the latch was not open"};
    }
    void wait() override { of_other_.wait(); }
    void let_go_on() override { of_one_.count_down(); }

    client one_, other_;
    latch of_one_{one_, name_of_lock(0)}, of_other_{other_, name_of_lock(0)};
};

constexpr int seats_of_a_crowd = 8;

} // namespace

made holdfast_semaphore(const arena& where) {
    return std::make_unique<semaphore_crowd>(where, seats_of_a_crowd);
}

made holdfast_free_semaphore(const arena& where) {
    return std::make_unique<semaphore_crowd>(where, where.at_once);
}

made holdfast_wake_up_by_permit(const arena& where) {
    return std::make_unique<permit_relay>(where);
}

made holdfast_wake_up_by_latch(const arena& where) {
    return std::make_unique<latch_relay>(where);
}

// Contenders whose threads take leased permits from one semaphore, or permits from one rate
// limiter.

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

    /// The minimum is two scripts, because permits can be handed over within the process.
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

    /// There is no maximum number of scripts: a thread may run several until it gets a permit.
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
