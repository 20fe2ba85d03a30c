// SPDX-License-Identifier: Apache-2.0
// What a primary says in INFO of its replicas. No I/O.
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Where they are.
std::vector<server_address> replicas_in(std::string_view info);

/// How many of them have its data.
std::size_t replicas_online_in(std::string_view info);

} // namespace holdfast::redis
