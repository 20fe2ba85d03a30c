// SPDX-License-Identifier: Apache-2.0
// What workers wrote down of latches that are set again and again: whether it can be true.
#pragma once

#include "interop/history.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::interop {

/// Each time, in words, that a latch was open for somebody though it had not been counted down so
/// often: a waiter was let through, or it was set anew. And each that it was shut for somebody who
/// wanted to set it, though it must have been open.
std::vector<std::string> wrong_openings(const std::vector<deed>&);

/// Each waiter, in words, who waited for longer than that while its latch must have been open: one
/// that is told late may miss an opening that is shorter.
std::vector<std::string> forgotten_at_latches(const std::vector<deed>&, moment timeout);

/// How many openings were longer than that, of all latches: each shows whether all were let
/// through.
std::size_t long_openings(const std::vector<deed>&, moment);

} // namespace holdfast::interop
