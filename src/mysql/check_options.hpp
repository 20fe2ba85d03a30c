// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/mysql/options.hpp>

namespace holdfast::mysql {

/// Returns the options as the store will use them. Throws `errc::invalid_argument` with the field's
/// name if an option is wrong. It reads the TLS files, and it does not contact a server.
options checked(options);

} // namespace holdfast::mysql
