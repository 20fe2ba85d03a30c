// SPDX-License-Identifier: Apache-2.0
// What the rounds of a duel say: medians, ratios and whether a goal is met.
#pragma once

#include "bench/duel.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

struct figure {
    std::string name;
    std::string_view unit;
    double value, yardstick;    ///< medians over the rounds
    double ratio;               ///< median of the rounds' ratios, ours / yardstick
    double low, high;           ///< half of the rounds' ratios lie between these
    std::optional<double> goal; ///< the least ratio that is good enough; none: only reported

    std::optional<bool> holds() const {
        return goal ? std::optional{ratio >= *goal} : std::nullopt;
    }
};

/// Pairs per second under the duel's own name, where the goal belongs; then `NAME.p50` and so on.
std::vector<figure> figures(const std::string& name, std::optional<double> goal,
                            const std::vector<round>&);

} // namespace holdfast::bench
