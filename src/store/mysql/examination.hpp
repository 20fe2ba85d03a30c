// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::mysql {

/// Implements `store::examine`. Checks what the server reports about itself. Checks whether a lock
/// can be taken, renewed and released.
asio::awaitable<std::vector<finding>> examine_server(site&, ask trial);

/// Implements `store::set_up`. It needs the database inside `guarded_database`: that class adds
/// advice about locks to each refusal, and the advice would be wrong here.
asio::awaitable<std::vector<finding>> make_tables(const site&, database&);

} // namespace holdfast::mysql
