// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

namespace holdfast::redis {

/// The options as they will be used, or `errc::invalid_argument` with the field's name. Reads the
/// files of TLS; asks nobody.
options checked(options);

} // namespace holdfast::redis
