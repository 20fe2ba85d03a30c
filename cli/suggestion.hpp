// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// ` (did you mean X?)` for the nearest of the known words; empty if none is near.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

} // namespace cli
