// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/mysql/options.hpp>
#include <holdfast/schemes.hpp>

namespace holdfast::mysql {

/// Reads all options from a URL. Throws `errc::invalid_argument` if an option is wrong.
options read_url(store_url&);

} // namespace holdfast::mysql
