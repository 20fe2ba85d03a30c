// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// As `lock_store::renew`: one write asks whether up to 500 nodes are there, and keeps the session
/// alive. Whatever lease is wanted, a hold lasts as long as that.
asio::awaitable<void> renew_holds(std::shared_ptr<household>, hold_list, time_point answer_by,
                                  renewal_sink&);

} // namespace holdfast::zookeeper
