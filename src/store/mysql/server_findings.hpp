// SPDX-License-Identifier: Apache-2.0
// What the doctor says about a server's settings. No I/O.
#pragma once

#include "mysql/database.hpp"

#include <holdfast/diagnosis.hpp>

#include <vector>

namespace holdfast::mysql {

std::vector<finding> judge(const server_facts&);

} // namespace holdfast::mysql
