// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// Returns the value of a field in a reply to INFO, which has lines of `field:value`. Empty if the
/// field is missing.
std::string_view info_field(std::string_view info, std::string_view field);

} // namespace holdfast::redis
