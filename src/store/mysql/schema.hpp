// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/names.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql {

/// Returns the statements that create the missing tables. The statements change nothing else.
std::vector<std::string> making(const tables&);

/// Returns the same statements as one text for administrators. Each statement ends with a semicolon
/// and a line break.
std::string ddl(const tables&);

} // namespace holdfast::mysql
