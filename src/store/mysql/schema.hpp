// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/names.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql {

/// The statements that make the tables where they are missing, and change nothing else.
std::vector<std::string> making(const tables&);

/// The same in one text, for people: each ends with a semicolon and a line.
std::string ddl(const tables&);

} // namespace holdfast::mysql
