// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/servers.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::support {

/// A data folder with the server's own tables and our empty schema, to be copied. It takes seconds
/// to make, so it is made once for all tests of a build folder. Throws `server_unavailable`.
std::filesystem::path prepared_data(const server_binary&);

/// What the data depend on, as on the command line.
std::vector<std::string> data_arguments(const server_binary&, const std::filesystem::path& data);

/// It is MySQL's: it makes its own tables, and has other options.
bool is_mysql(const server_binary&);

} // namespace holdfast::support
