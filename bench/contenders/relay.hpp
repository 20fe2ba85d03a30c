// SPDX-License-Identifier: Apache-2.0
// Who waits in one client, and is woken by what another does.
#pragma once

#include "bench/contenders/contender.hpp"

#include <random>

namespace holdfast::bench {

/// A sample is the time from the call that lets the other go on to the return of the one that
/// waited.
class relay : public contender {
public:
    /// So much later whoever waits has asked in vain, listens, and sleeps; or any time in between,
    /// where who waits asks again and again.
    struct pause {
        std::chrono::microseconds least{2'000}, most{2'000};
    };
    static constexpr pause a_while{std::chrono::milliseconds{40}, std::chrono::milliseconds{60}};

    relay() = default;
    explicit relay(pause how_long)
        : pause_{how_long} {}

    tally run(nanoseconds length) override;

    /// Or more: whoever waits has asked in vain.
    claim scripts_for(const tally& all) const override;

private:
    virtual void hold_back() = 0; ///< from here on the other has to wait
    virtual void wait() = 0;      ///< on a thread of its own
    virtual void give_back() {}   ///< behind it, on that thread
    virtual void let_go_on() = 0;

    nanoseconds wake_up();
    std::chrono::microseconds length_of_pause();

    const pause pause_{};
    std::minstd_rand chance_; // the same in each run
};

} // namespace holdfast::bench
