// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::redis {

/// As `store::examine`. Rights are found out by doing what locks do, under the name of `trial`; of
/// that nothing is left behind.
asio::awaitable<std::vector<finding>> examine_server(node&, const store_context&, ask trial);

} // namespace holdfast::redis
