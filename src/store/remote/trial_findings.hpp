// SPDX-License-Identifier: Apache-2.0
// What an examination says of the way to a server and of the lock that it takes for a trial: in the
// same words, whichever store it is.
#pragma once

#include <holdfast/diagnosis.hpp>
#include <holdfast/store.hpp>

#include <chrono>
#include <string>

namespace holdfast::remote {

/// Of an answer that took so long.
finding judge_delay(duration took, duration lease_time);

/// Of a server whose clock shows that time since 1970.
finding judge_clock(std::chrono::microseconds shown);

// Of the trial: it could not begin; its lock was gone too soon, and what to do about that; it was
// carried out.
finding trial_lock_is_held(const lock_name&);
finding trial_lock_was_lost(std::string remedy);
finding trial_went_well(const lock_name&);

} // namespace holdfast::remote
