// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::zookeeper {

/// Implements `inspector::listen`. Rings for each node that is added to the queue or removed from
/// it. In a long queue this causes much traffic, so only observers use it, not waiters.
asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<household>, std::string path,
                                                   alarm& wake);

} // namespace holdfast::zookeeper
