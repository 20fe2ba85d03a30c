// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a shared library shows. Everything else is hidden.
#define HOLDFAST_EXPORT __attribute__((visibility("default")))
