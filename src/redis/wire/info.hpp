// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// The value of `field` in what INFO says: lines of `field:value`. Empty: it does not say.
std::string_view info_field(std::string_view info, std::string_view field);

} // namespace holdfast::redis
