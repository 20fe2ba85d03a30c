// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/accounts.hpp"
#include "bench/wishes.hpp"

#include <map>

namespace holdfast::bench {

/// Returns the conditions of the run: the machine, the versions and the settings.
std::map<std::string, std::string> conditions(const accounts&, const wishes&);

} // namespace holdfast::bench
