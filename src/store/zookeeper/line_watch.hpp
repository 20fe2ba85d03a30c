// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::zookeeper {

/// Implements `inspector::listen`: rings for each node that is added to the queue or removed. That
/// is much traffic in a long queue, so only observers that do not queue themselves use it.
asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<household>, std::string path,
                                                   alarm& wake);

} // namespace holdfast::zookeeper
