// SPDX-License-Identifier: Apache-2.0
// The description of this process for other clients, and findings of the doctor that all stores
// share.
#pragma once

#include <holdfast/diagnosis.hpp>
#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <chrono>
#include <string>

namespace holdfast::remote {

/// Returns the description of this process, with the label that the user gave to the client.
client_info client_info_of(const store_context&);

// Findings about the round trip to a server and about the doctor's trial lock, with the same texts
// for all stores.

/// Returns the finding about the time `took` that a reply took.
finding judge_delay(duration took, duration lease_time);

/// Returns the finding about a server's clock. `shown` is the time that the clock showed (since
/// 1970).
finding judge_clock(std::chrono::microseconds shown);

// Findings about the trial lock.
//     trial_lock_is_held   another owner holds the lock
//     trial_lock_was_lost  the lock was lost before its renewal; `remedy` is the advice
//     trial_went_well      the lock was taken, renewed and released
finding trial_lock_is_held(const lock_name&);
finding trial_lock_was_lost(std::string remedy);
finding trial_went_well(const lock_name&);

} // namespace holdfast::remote
