// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::mysql {

/// Runs `store::examine`: judges what the server reports about itself, and whether a lock can be
/// taken, renewed and released there.
asio::awaitable<std::vector<finding>> examine_server(site&, ask trial);

/// Runs `store::set_up`. It takes the database inside `guarded_database`, because that class adds
/// advice about locks to a refusal, which would be wrong here.
asio::awaitable<std::vector<finding>> make_tables(const site&, database&);

} // namespace holdfast::mysql
