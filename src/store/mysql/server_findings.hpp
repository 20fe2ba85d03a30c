// SPDX-License-Identifier: Apache-2.0
// What the doctor says of a server's settings: no I/O.
#pragma once

#include "mysql/database.hpp"

#include <holdfast/diagnosis.hpp>

#include <vector>

namespace holdfast::mysql {

std::vector<finding> judge(const server_facts&);

} // namespace holdfast::mysql
