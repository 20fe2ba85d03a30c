// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// Implements `lock_store::release`: deletes the nodes of the hold. If a node cannot be deleted
/// now, it is deleted later in the background.
asio::awaitable<release_answer> release_nodes(std::shared_ptr<household>, hold);

} // namespace holdfast::zookeeper
