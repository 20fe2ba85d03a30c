// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bells.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

namespace holdfast::mysql {

/// Runs `lock_store::renew`. The holds are renewed in batches of about 500 rows, all at the same
/// time.
asio::awaitable<void> renew_holds(site&, bells&, hold_list, const renewal_wishes&, renewal_sink&);

} // namespace holdfast::mysql
