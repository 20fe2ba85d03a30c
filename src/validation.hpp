// SPDX-License-Identifier: Apache-2.0
// What is checked before anything is sent. That is a safety property: a lease of zero or one that
// overflows would be a lock that is not there, or one that never ends.
#pragma once

#include <holdfast/basic_mutex.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

// Each throws `errc::invalid_argument`, with words that name what is wrong and what is allowed.

void check(const options&);

duration checked_lease(duration length, const limits&);

/// How long a counter is kept.
duration checked_keeping(duration length, const limits&);

/// What a rate limiter can be set to.
rate checked_rate(const rate&, const limits&);

backoff checked_backoff(backoff polls);

/// So many replicas must confirm what the store grants: none where it asks no replicas.
unsigned checked_replicas(unsigned number, const limits&);

/// How long a waiter of a fair lock keeps its place while it cannot be reached: at least as long as
/// its wait survives that. Empty: the usual.
duration checked_waiter_patience(std::optional<duration> length, const options&, const limits&);

/// How long a quorum waits for one node: a small part of the lease.
duration checked_node_patience(duration length, duration lease);

/// `mapped`: as the store will see it.
std::string checked_name(std::string_view mapped, const lock_store&);
std::string checked_name(std::string_view mapped, const counter_store&, counter_kind);

/// What is counted, of which `what` is an amount.
std::int64_t checked_amount(std::int64_t amount, std::int64_t least, std::int64_t most,
                            const char* what);

} // namespace holdfast
