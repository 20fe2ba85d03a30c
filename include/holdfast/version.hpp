// SPDX-License-Identifier: Apache-2.0
// Version of the library, as macros. If this version differs from the version in CMakeLists.txt,
// CMake stops with an error.
#pragma once

#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION_STRING "0.1.0"
