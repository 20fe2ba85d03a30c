// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "url/parts.hpp"

#include <holdfast/redis/options.hpp>

namespace holdfast::url {

/// Whether its scheme is one of a Redis server's.
bool names_server(const parts&);

/// Where that server is and who asks; nothing of the parameters. Throws `errc::invalid_argument`.
redis::options read_server(const parts&);

} // namespace holdfast::url
