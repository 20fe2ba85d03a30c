// SPDX-License-Identifier: Apache-2.0
// Measures how fast a client's waiter is woken by an action of another client.
#pragma once

#include "bench/contenders/contender.hpp"

#include <random>

namespace holdfast::bench {

/// Contender that measures wake-ups. A sample is the time from the call that wakes the waiter until
/// the waiter returns.
class relay : public contender {
public:
    /// Time between the start of the wait and the wake-up. It is random between `least` and `most`.
    /// After 2 ms the waiter has made a failed attempt, has subscribed, and sleeps. For a waiter
    /// that polls, the range should cover its poll interval.
    struct pause {
        std::chrono::microseconds least{2'000}, most{2'000};
    };
    static constexpr pause a_while{std::chrono::milliseconds{40}, std::chrono::milliseconds{60}};

    relay() = default;
    explicit relay(pause how_long)
        : pause_{how_long} {}

    tally run(nanoseconds length) override;

    /// Returns no upper limit, because each waiter first makes a failed attempt.
    claim scripts_for(const tally& all) const override;

private:
    virtual void hold_back() = 0; ///< makes the waiter wait from now on
    virtual void wait() = 0;      ///< called on its own thread
    virtual void give_back() {}   ///< called after `wait`, on that thread
    virtual void let_go_on() = 0;

    nanoseconds wake_up();
    std::chrono::microseconds length_of_pause();

    const pause pause_{};
    std::minstd_rand chance_; // gives the same sequence in each run
};

} // namespace holdfast::bench
