// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/options.hpp>
#include <holdfast/redis/options.hpp>

namespace holdfast::url {

/// Sets what the URL's parameters name. `server`: null if the store is no server. Throws
/// `errc::invalid_argument`.
void apply_parameters(const parts&, options&, redis::options* server);

/// A number for `/N` or `?database=N`.
std::uint32_t read_database(const parts&, std::string_view text);

} // namespace holdfast::url
