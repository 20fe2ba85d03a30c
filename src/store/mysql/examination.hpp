// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <vector>

namespace holdfast::mysql {

/// As `store::examine`: what the server says of itself, and whether a lock can be taken, renewed
/// and released there.
asio::awaitable<std::vector<finding>> examine_server(site&, ask trial);

/// As `store::set_up`. The database says by itself what to do about a refusal of a lock, and here
/// that is something else: it is the one below that.
asio::awaitable<std::vector<finding>> make_tables(const site&, database&);

} // namespace holdfast::mysql
