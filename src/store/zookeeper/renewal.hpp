// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::zookeeper {

/// Implements `lock_store::renew`. One write checks up to 500 nodes and keeps the session alive. A
/// hold is valid as long as the session; the requested lease has no influence.
asio::awaitable<void> renew_holds(std::shared_ptr<household>, hold_list, time_point answer_by,
                                  renewal_sink&);

} // namespace holdfast::zookeeper
