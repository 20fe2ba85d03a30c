// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bells.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

namespace holdfast::mysql {

/// Implements `lock_store::renew`. Splits the holds into batches of about 500 rows, and renews all
/// batches at the same time.
asio::awaitable<void> renew_holds(site&, bells&, hold_list, const renewal_wishes&, renewal_sink&);

} // namespace holdfast::mysql
