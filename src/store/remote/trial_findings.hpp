// SPDX-License-Identifier: Apache-2.0
// Findings about the round trip to a server and about the trial lock of an examination. All stores
// use the same words.
#pragma once

#include <holdfast/diagnosis.hpp>
#include <holdfast/store.hpp>

#include <chrono>
#include <string>

namespace holdfast::remote {

/// Returns the finding for a reply that took `took`.
finding judge_delay(duration took, duration lease_time);

/// Returns the finding for a server whose clock showed `shown` (time since 1970).
finding judge_clock(std::chrono::microseconds shown);

// Return the findings about the trial lock: it is held by somebody else; it was lost before its
// renewal, with advice; it was taken, renewed and released.
finding trial_lock_is_held(const lock_name&);
finding trial_lock_was_lost(std::string remedy);
finding trial_went_well(const lock_name&);

} // namespace holdfast::remote
