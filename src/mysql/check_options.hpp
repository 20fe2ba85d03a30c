// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/mysql/options.hpp>

namespace holdfast::mysql {

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` with the field's name if an option is wrong. Reads the TLS files, but
/// contacts no server.
options checked(options);

} // namespace holdfast::mysql
