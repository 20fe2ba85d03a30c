// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <cstddef>

namespace holdfast::mysql {

/// Throws `store_errc::try_again` if the statement `update_at` of an attempt waited for a table
/// lock instead of a row lock. FLUSH TABLES WITH READ LOCK and LOCK TABLES … READ set table locks.
/// The holder is then unknown, and no attempt is granted.
asio::awaitable<void> refuse_locked_tables(site&, const answers&, std::size_t update_at);

} // namespace holdfast::mysql
