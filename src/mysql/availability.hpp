// SPDX-License-Identifier: Apache-2.0
// This header hides where libmariadb comes from. The library component links libmariadb
// (linked.cpp). The program loads libmariadb when it meets the first mysql:// URL (on_demand/).
// libmariadb and its OpenSSL double the time to start, and most runs of the program do not use
// MySQL.
#pragma once

#include <string>

namespace holdfast::mysql {

/// Returns why libmariadb cannot be used. Returns an empty text if libmariadb can be used. Call
/// this function before the first use of libmariadb. Any thread may call it.
std::string objection_to_library();

} // namespace holdfast::mysql
