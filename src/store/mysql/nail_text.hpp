// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// As `nail`, of that owner's hold; no lease is asked.
std::string nail_text(const std::string& quoted_table, std::string_view name,
                      std::string_view owner);

} // namespace holdfast::mysql
