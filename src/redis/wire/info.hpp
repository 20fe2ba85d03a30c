// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// Returns the value of a field in a reply to INFO. The reply has lines of the form `field:value`.
/// The result is empty if the field is missing.
std::string_view info_field(std::string_view info, std::string_view field);

} // namespace holdfast::redis
