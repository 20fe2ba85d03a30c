// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// Reads the address of a Redis server and the login from a URL, without the parameters. Throws
/// `errc::invalid_argument`.
redis::options read_server(const parts&);

/// Reads the parameters of the URL.
void read_server_parameters(store_url&, redis::options&);

/// Reads the database number in `/N` or `?database=N`.
std::uint32_t read_database(const parts&, std::string_view text);

} // namespace holdfast::url
