// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/servers.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::support {

/// Returns a data folder to copy. It contains the server's own tables and an empty schema for
/// tests. Making it takes seconds, so all tests of a build folder share it. Throws
/// `server_unavailable`.
std::filesystem::path prepared_data(const server_binary&);

/// Returns the options that the server needs each time it uses these data.
std::vector<std::string> data_arguments(const server_binary&, const std::filesystem::path& data);

/// Returns whether the server is MySQL, not MariaDB. MySQL makes its own tables and has other
/// options.
bool is_mysql(const server_binary&);

} // namespace holdfast::support
