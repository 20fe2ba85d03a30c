// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

namespace holdfast::redis {

/// Renews holds (`lock_store::renew`). The holds are sent in scripts of at most a hundred holds,
/// all at the same time. Each script reports its holds as soon as it has a reply or has failed.
asio::awaitable<void> renew_holds(node&, asio::any_io_executor, hold_list, const renewal_options&,
                                  renewal_sink&);

} // namespace holdfast::redis
