// SPDX-License-Identifier: Apache-2.0
// State that servers report about themselves, for tests that wait for it.
#pragma once

#include "support/redis_server.hpp"

#include <string>

namespace holdfast::support {

/// Returns one field of INFO. Returns an empty text if the field is missing.
std::string info_of(redis_server&, const std::string& section, const std::string& field);

/// Returns the replication offset. It is the amount that a primary has written or a replica has
/// received.
long long offset_of(redis_server&);

bool is_primary(redis_server&);

/// Returns whether this replica has received all data up to `offset` from its primary.
bool is_in_sync(redis_server& replica, long long offset);

/// Returns the number of replicas that have received all data of this primary.
int replicas_online(redis_server&);

} // namespace holdfast::support
