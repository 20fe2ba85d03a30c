// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"

#include <holdfast/mysql/options.hpp>

#include <memory>

namespace holdfast::mysql {

/// Makes a database. The database connects at its first request. `checked` must have returned the
/// options.
std::unique_ptr<database> make_database(options, store_context);

} // namespace holdfast::mysql
