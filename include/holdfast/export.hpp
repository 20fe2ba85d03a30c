// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __cplusplus < 202002L
#error "holdfast needs C++20: compile with -std=c++20 (in CMake: cxx_std_20) or a later standard"
#endif

/// Marks a symbol that the shared library exports. The library hides all other symbols.
#define HOLDFAST_EXPORT [[gnu::visibility("default")]]
