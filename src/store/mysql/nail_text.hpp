// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Returns the statement of `nail` for that owner's hold, without a check of a lease.
std::string nail_text(const std::string& quoted_table, std::string_view name,
                      std::string_view owner);

} // namespace holdfast::mysql
