// SPDX-License-Identifier: Apache-2.0
// What servers say about themselves, for who waits until it is so.
#pragma once

#include "support/redis_server.hpp"

#include <string>

namespace holdfast::support {

/// One field of INFO; empty if it is not there.
std::string info_of(redis_server&, const std::string& section, const std::string& field);

/// Of its replication: what it has written, or taken over.
long long offset_of(redis_server&);

bool is_primary(redis_server&);

/// Whether this is a replica that has all that its primary had written when it was asked.
bool is_in_sync(redis_server& replica, long long offset);

/// How many replicas it has that have taken over all its data.
int replicas_online(redis_server&);

} // namespace holdfast::support
