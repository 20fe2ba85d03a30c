// SPDX-License-Identifier: Apache-2.0
// Readers of the lines about replicas in a primary's INFO. No I/O.
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Returns the addresses of the replicas.
std::vector<server_address> replicas_in(std::string_view info);

/// Returns the number of replicas in the state `online`. Replicas in this state have the primary's
/// data.
std::size_t replicas_online_in(std::string_view info);

} // namespace holdfast::redis
