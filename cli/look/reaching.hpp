// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>

#include <string>

namespace cli {

/// What a client needs to reach that server. Who it is there, where the URL does not say it, is
/// asked of HOLDFAST_USERNAME and HOLDFAST_PASSWORD: a command line is anybody's to read.
holdfast::options reaching(std::string url);

} // namespace cli
