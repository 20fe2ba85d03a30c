// SPDX-License-Identifier: Apache-2.0
#include "bench/rivalry/crowd_and_rival.hpp"

#include <limits>
#include <utility>

namespace holdfast::bench {
namespace {

class mixed : public contender {
public:
    mixed(const arena& where, peer& rival)
        : crowd_{holdfast_gate(where)}
        , rival_{rival} {}

    tally run(nanoseconds length) override {
        rival_.begin("now-and-then", 1, length);
        tally all = crowd_->run(length);
        all.samples = std::move(rival_.finish().samples);
        return all;
    }

    /// Returns the number of scripts: two for each turn of the other process, and one for each of
    /// its failed attempts.
    claim scripts_for(const tally& all) const override {
        const auto rivals = static_cast<long long>(all.samples.size());
        return {2 + 2 * rivals, std::numeric_limits<long long>::max()};
    }

private:
    made crowd_;
    peer& rival_;
};

} // namespace

made crowd_and_rival(const arena& where, peer& rival) {
    return std::make_unique<mixed>(where, rival);
}

} // namespace holdfast::bench
