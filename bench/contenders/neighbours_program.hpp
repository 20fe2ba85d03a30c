// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace holdfast::bench {

/// Returns the path of a program of ./dev interop. The variable HOLDFAST_NEIGHBOURS lists these
/// programs as `<name>=<program>;…`. `./dev bench` sets the variable. Throws `not_here`.
std::string program_of_neighbour(const std::string& name);

} // namespace holdfast::bench
