// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::bench {

/// What starts that peer of ./dev interop: HOLDFAST_NEIGHBOURS is `<name>=<program>;…`, as `./dev
/// bench` sets it. Throws `not_here`.
std::string program_of_neighbour(const std::string& name);

} // namespace holdfast::bench
