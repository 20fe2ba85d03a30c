// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::zookeeper {

/// As `inspector::listen`: rings for everybody who comes to the line or leaves it. That is much
/// where many come, and only those who do not queue need it.
asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<household>, std::string path,
                                                   alarm& wake);

} // namespace holdfast::zookeeper
