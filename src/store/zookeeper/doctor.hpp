// SPDX-License-Identifier: Apache-2.0
// The doctor for an ensemble: the findings about its servers, and the trial of a lock.
#pragma once

#include "store/zookeeper/store_session.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <vector>

namespace holdfast::zookeeper {

/// Returns the findings about an ensemble's servers. Does no I/O and reads no clock.
std::vector<finding> judge_servers(const survey&);

/// Implements `store::examine`. `asked` is the session timeout that the client requested.
asio::awaitable<std::vector<finding>> examine_ensemble(std::shared_ptr<store_session>, ask trial,
                                                       duration asked);

} // namespace holdfast::zookeeper
