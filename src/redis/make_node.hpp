// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>

namespace holdfast::redis {

/// Returns a client of the deployment that the options name: one server, a Sentinel service or a
/// cluster. The options must have been checked. The client connects at its first request.
std::unique_ptr<node> make_node(options, store_context);

} // namespace holdfast::redis
