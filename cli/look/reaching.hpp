// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>

#include <string>

namespace cli {

/// Returns the options of a client for that server. If the URL has no user name or password, they
/// are read from HOLDFAST_USERNAME and HOLDFAST_PASSWORD. These variables exist because other users
/// can see a command line.
holdfast::options reaching(std::string url);

} // namespace cli
