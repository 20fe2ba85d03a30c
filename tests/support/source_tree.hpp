// SPDX-License-Identifier: Apache-2.0
// Finds files that tests read at run time. No path is compiled in, because that would make ccache
// useless across checkouts.
#pragma once

#include <filesystem>
#include <string_view>

namespace holdfast::support {

/// Returns the path of a source file. `path` is relative to the root of the sources. The root is
/// $HOLDFAST_SOURCE_DIR, or the nearest folder above this program or above the working directory
/// that contains `path`. Throws `std::runtime_error`.
std::filesystem::path source_file(std::string_view path);

} // namespace holdfast::support
