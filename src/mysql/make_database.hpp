// SPDX-License-Identifier: Apache-2.0
// The check of the options, and the function that makes the database from them.
#pragma once

#include "mysql/database.hpp"

#include <holdfast/mysql/options.hpp>

#include <memory>

namespace holdfast::mysql {

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` with the field's name if an option is wrong. Reads the TLS files, but
/// contacts no server.
options checked(options);

/// Makes a database, which connects at its first request. The options must be a result of
/// `checked`.
std::unique_ptr<database> make_database(options, store_context);

} // namespace holdfast::mysql
