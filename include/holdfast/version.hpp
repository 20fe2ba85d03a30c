// SPDX-License-Identifier: Apache-2.0
// Version of these headers, as macros. CMake stops with an error if this version differs from the
// project's version.
#pragma once

#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 1
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION_STRING "0.1.0"
