// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::redis {

/// Examines the server (`store::examine`). Tests the rights by doing what locks do, with a lock
/// named `trial`. Leaves no key behind.
asio::awaitable<std::vector<finding>> examine_server(node&, const store_context&, ask trial);

} // namespace holdfast::redis
