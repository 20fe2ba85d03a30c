// SPDX-License-Identifier: Apache-2.0
// What the methods of Redisson's semaphores and latches mean to us.
#pragma once

#include "interop/holdfast/calls.hpp"

namespace holdfast::interop {

/// Whether it is one of a counter, and not of a lock.
bool is_of_counter(const call&);

/// As `answer` and `answer_later`.
json::value answer_of_counter(const call&);
void answer_of_counter_later(const call&, answer_to_call);

} // namespace holdfast::interop
