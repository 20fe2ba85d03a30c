// SPDX-License-Identifier: Apache-2.0
// All checkers of a world of several servers, and when each of them runs.
#pragma once

#include "sim/checkers/deals.hpp"
#include "sim/checkers/remains.hpp"
#include "sim/checkers/together.hpp"
#include "sim/checkers/votes.hpp"

namespace holdfast::sim::several {

class audit {
public:
    explicit audit(realm& r)
        : together_{r}
        , votes_{r}
        , deals_{r}
        , remains_{r} {}

    void after_step() { together_.compare_all(); }

    /// Called when no task is ready any more and the clock has not moved yet.
    void at_rest() {
        together_.look();
        votes_.look();
        deals_.look();
        remains_.look();
    }

    void sent(const memory::request& r, const memory::fate& f) {
        votes_.sent(r);
        remains_.sent(r, f);
    }
    void granted(const claim& c) { together_.granted(c); }
    void lost(const claim& c) { together_.lost(c); }
    void completed(const deal& d, outcome how) { deals_.completed(d, how); }
    void dropped(const deal& d) { deals_.dropped(d); }
    void closed(const terminal& t) { remains_.closed(t); }

    void at_peace() { remains_.at_peace(); } ///< called some time after all locks were released
    void at_the_end() { remains_.at_the_end(); }

private:
    together together_;
    votes votes_;
    deals deals_;
    remains remains_;
};

} // namespace holdfast::sim::several
