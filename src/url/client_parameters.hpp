// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/options.hpp>
#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// Reads the parameters that do not depend on the store. Throws `errc::invalid_argument`.
void read_client_parameters(store_url&, options&);

} // namespace holdfast::url
