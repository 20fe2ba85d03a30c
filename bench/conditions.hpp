// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/accounts.hpp"
#include "bench/wishes.hpp"

#include <map>

namespace holdfast::bench {

/// On what, and how, is measured.
std::map<std::string, std::string> conditions(const accounts&, const wishes&);

} // namespace holdfast::bench
