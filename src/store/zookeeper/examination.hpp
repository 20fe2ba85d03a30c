// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <vector>

namespace holdfast::zookeeper {

/// Runs `store::examine`. `asked` is the session timeout that the client asked for.
asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<household>, ask trial,
                                                       duration asked);

} // namespace holdfast::zookeeper
