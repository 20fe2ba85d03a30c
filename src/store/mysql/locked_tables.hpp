// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <cstddef>

namespace holdfast::mysql {

/// Throws `store_errc::try_again` if the statement `update_at` of an attempt met a lock, and that
/// was not a row's but of the whole table: FLUSH TABLES WITH READ LOCK, or LOCK TABLES … READ. Then
/// nobody knows who has the lock, and no attempt is granted.
asio::awaitable<void> refuse_locked_tables(site&, const answers&, std::size_t update_at);

} // namespace holdfast::mysql
