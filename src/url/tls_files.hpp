// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// The parameters that say how TLS is done; `without`: what is said of one where there is no TLS.
void read_tls_files(store_url&, std::optional<tls_options>& into, std::string_view without);

} // namespace holdfast::url
