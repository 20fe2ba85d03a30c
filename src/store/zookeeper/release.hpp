// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// As `lock_store::release`: deletes the nodes of that hold. What could not be deleted is tried
/// again by itself.
asio::awaitable<release_answer> release_nodes(std::shared_ptr<household>, hold);

} // namespace holdfast::zookeeper
