// SPDX-License-Identifier: Apache-2.0
// Where libmariadb comes from. The component links it (linked.cpp). The program loads it when the
// first URL wants it (on_demand/): with OpenSSL, which it brings along, it doubles the time of a
// start, and most starts have nothing to do with MySQL.
#pragma once

#include <string>

namespace holdfast::mysql {

/// Why libmariadb cannot be used; empty: it can. Ask before its first use. Any thread.
std::string objection_to_library();

} // namespace holdfast::mysql
