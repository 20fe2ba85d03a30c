// SPDX-License-Identifier: Apache-2.0
// `holdfast inspect --type`: what is counted under a name.
#pragma once

#include "cli/look/looking.hpp"

#include <holdfast/counters.hpp>

#include <optional>
#include <string>

namespace cli {

/// Empty: that is no type. `token` is one, and nothing that is counted.
std::optional<holdfast::counter_kind> counter_type(const std::string& word);

/// Asks and prints; answers the exit status.
int inspect_counter(holdfast::client&, const look_options&, holdfast::counter_kind);

} // namespace cli
