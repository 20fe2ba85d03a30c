// SPDX-License-Identifier: Apache-2.0
// Who waits in one client, and is woken by what another does.
#pragma once

#include "bench/contenders/contender.hpp"

namespace holdfast::bench {

/// A sample is the time from the call that lets the other go on to the return of the one that
/// waited.
class relay : public contender {
public:
    tally run(nanoseconds length) override;

    /// Or more: whoever waits has asked in vain.
    claim scripts_for(const tally& all) const override;

private:
    virtual void hold_back() = 0; ///< from here on the other has to wait
    virtual void wait() = 0;      ///< on a thread of its own
    virtual void give_back() {}   ///< behind it, on that thread
    virtual void let_go_on() = 0;

    nanoseconds wake_up();
};

} // namespace holdfast::bench
