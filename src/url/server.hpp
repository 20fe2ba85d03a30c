// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// Where that Redis server is and who asks; nothing of the parameters. Throws
/// `errc::invalid_argument`.
redis::options read_server(const parts&);

/// What the URL's parameters say of it.
void read_server_parameters(store_url&, redis::options&);

/// A number for `/N` or `?database=N`.
std::uint32_t read_database(const parts&, std::string_view text);

} // namespace holdfast::url
