// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

namespace holdfast::redis {

/// Returns the options as the client uses them. Throws `errc::invalid_argument` with the name of
/// the field. Reads the files for TLS; sends nothing.
options checked(options);

} // namespace holdfast::redis
