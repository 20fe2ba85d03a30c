// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/mysql/options.hpp>

namespace holdfast::mysql {

/// The options as they will be used, or `errc::invalid_argument` with the field's name. Reads the
/// files of TLS; asks nobody.
options checked(options);

} // namespace holdfast::mysql
