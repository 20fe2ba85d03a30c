// SPDX-License-Identifier: Apache-2.0
// Translates the methods of Redisson's semaphores, latches and rate limiters to calls of holdfast.
#pragma once

#include "interop/holdfast/calls.hpp"

#include <map>
#include <string>

namespace holdfast::interop {

/// Returns whether the method belongs to a counter, and not to a lock.
bool is_of_counter(const call&);

/// Same functions as `is_asynchronous`, `answer` and `answer_later`, for counters.
bool is_asynchronous_of_counter(const std::string& method);
json::value answer_of_counter(const call&);
void answer_of_counter_later(const call&, answer_to_call);

using blocking_call = json::value (*)(const call&);
using calls_by_name = std::map<std::string, blocking_call>;

const calls_by_name& permit_calls(); ///< of an RPermitExpirableSemaphore
const calls_by_name& rate_calls();   ///< of an RRateLimiter

void answer_of_permits_later(const call&, answer_to_call);
void answer_of_rate_later(const call&, answer_to_call);

} // namespace holdfast::interop
