// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/store_session.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <vector>

// What the doctor says about an ensemble's servers. No I/O, no clock.

namespace holdfast::zookeeper {

std::vector<finding> judge_servers(const survey&);

/// Implements `store::examine`. `asked` is the session timeout that the client requested.
asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<household>, ask trial,
                                                       duration asked);

} // namespace holdfast::zookeeper
