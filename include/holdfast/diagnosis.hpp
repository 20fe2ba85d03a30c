// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// Severity of a finding, from the least serious to the most serious.
enum class severity : std::int32_t {
    fine = 0, ///< no problem
    note,     ///< no problem now, but worth knowing
    warning,  ///< locks work, but will not behave as expected in some situations
    danger,   ///< locks do not work, or are lost in everyday situations
};

HOLDFAST_EXPORT const char* to_string(severity) noexcept;

/// The result of one check.
struct finding {
    severity how_bad = severity::fine;
    std::string topic{}; ///< one word that programs can compare: "reach", "rights", "eviction", …
    std::string what{};  ///< what was found
    std::string remedy{}; ///< what to do about the problem; empty: nothing
};

/// The findings of `client::doctor()`, in the order in which the checks ran.
struct diagnosis {
    std::vector<finding> findings{};

    severity worst() const noexcept {
        severity worst = severity::fine;
        for (const finding& each : findings)
            worst = each.how_bad > worst ? each.how_bad : worst;
        return worst;
    }
};

} // namespace holdfast
