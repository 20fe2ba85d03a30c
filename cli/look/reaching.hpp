// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>

#include <string>

namespace cli {

/// Returns the options that a client needs for that server. If the URL has no user name or
/// password, they come from HOLDFAST_USERNAME and HOLDFAST_PASSWORD, because other users can read a
/// command line.
holdfast::options reaching(std::string url);

} // namespace cli
