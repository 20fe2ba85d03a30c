// SPDX-License-Identifier: Apache-2.0
// The check of the options, and the making of the database from them.
#pragma once

#include "mysql/database.hpp"

#include <holdfast/mysql/options.hpp>

#include <memory>

namespace holdfast::mysql {

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` with the field's name if an option is wrong. Reads the TLS files, but
/// contacts no server.
options checked(options);

/// Makes a database. The database connects at its first request. `checked` must have returned the
/// options.
std::unique_ptr<database> make_database(options, store_context);

} // namespace holdfast::mysql
