// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <vector>

namespace holdfast::zookeeper {

/// Implements `store::examine`. `asked` is the session timeout that the client requested.
asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<household>, ask trial,
                                                       duration asked);

} // namespace holdfast::zookeeper
