// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <string>

namespace holdfast::redis {

/// Where a server is, for people: `db.internal:6379`, `[::1]:6379`, `unix:/run/redis.sock`.
std::string address_of(const options&);

} // namespace holdfast::redis
