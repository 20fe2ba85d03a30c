// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::bench {

/// Returns the program that starts this peer of ./dev interop. HOLDFAST_NEIGHBOURS lists them as
/// `<name>=<program>;…`, and `./dev bench` sets it. Throws `not_here`.
std::string program_of_neighbour(const std::string& name);

} // namespace holdfast::bench
