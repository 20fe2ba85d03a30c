// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>

namespace holdfast::redis {

/// Whatever the options name: one server, or several. They must have been checked. Connects when it
/// is first asked.
std::unique_ptr<node> make_node(options, store_context);

} // namespace holdfast::redis
