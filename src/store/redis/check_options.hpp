// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

namespace holdfast::redis {

/// Returns the options after checks, in the form that the client uses. Throws
/// `errc::invalid_argument` with the name of the wrong field. Reads the files for TLS, but sends
/// nothing.
options checked(options);

} // namespace holdfast::redis
