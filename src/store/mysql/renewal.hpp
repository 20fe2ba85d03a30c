// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bells.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

namespace holdfast::mysql {

/// As `lock_store::renew`: in batches of at most 500, all under way at once.
asio::awaitable<void> renew_holds(site&, bells&, hold_list, const renewal_wishes&, renewal_sink&);

} // namespace holdfast::mysql
