// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <cstddef>

namespace holdfast::mysql {

/// Throws `store_errc::try_again` if the statement `update_at` of an attempt waited for a lock of
/// the whole table, not of a row. FLUSH TABLES WITH READ LOCK or LOCK TABLES … READ cause that. The
/// holder is then unknown, and no attempt is granted.
asio::awaitable<void> refuse_locked_tables(site&, const answers&, std::size_t update_at);

} // namespace holdfast::mysql
