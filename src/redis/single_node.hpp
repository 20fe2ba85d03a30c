// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>

namespace holdfast::redis {

/// One server, over TCP or a unix socket. The options must have been checked. Connects when it is
/// first asked.
std::unique_ptr<node> make_node(options, store_context);

} // namespace holdfast::redis
