// SPDX-License-Identifier: Apache-2.0
// Checks of values before the client sends a request. The checks are needed for safety: a lock with
// a lease time of zero would never be held, and a lease time that overflows might never end.
#pragma once

#include <holdfast/basic_mutex.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/options.hpp>
#include <holdfast/ticket.hpp>

namespace holdfast {

// Functions that check one value each. They throw `errc::invalid_argument` for a value that is not
// allowed. The error text names the value and the allowed values.

void check(const options&);

/// Checks the numbers in a ticket. Anybody may have written the ticket, and it must not make the
/// client ask for an unlimited number of permits.
void check(const ticket&);

duration checked_lease(duration length, const limits&);

/// Checks the time after which the store deletes a counter, and returns this time.
duration checked_keeping(duration length, const limits&);

/// Checks the settings of a rate limiter, and returns them.
rate checked_rate(const rate&, const limits&);

backoff checked_backoff(backoff polls);

/// Checks the number of required replicas. The number must be 0 if the store does not support
/// confirmation.
unsigned checked_replicas(unsigned number, const limits&);

/// Checks how long a waiter of a fair lock stays in the queue without sending a request. The time
/// must not be shorter than the longest outage that a waiter survives. If `length` is empty,
/// returns the default.
duration checked_waiter_timeout(std::optional<duration> length, const options&, const limits&);

/// Checks how long a quorum waits for one node: at most a quarter of the lease.
duration checked_node_timeout(duration length, duration lease);

/// Checks the name of a lock. `mapped` is the name at the store, after the client's name mapping.
std::string checked_name(std::string_view mapped, const lock_store&);
std::string checked_name(std::string_view mapped, const counter_store&, counter_kind);

/// Checks an amount, and returns it. `what` names the amount in the error text.
std::int64_t checked_amount(std::int64_t amount, std::int64_t least, std::int64_t most,
                            const char* what);

} // namespace holdfast
