// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/schemes.hpp>

namespace holdfast::url {

/// Reads the TLS parameters. `without` is the error text for a TLS parameter in a URL without TLS.
void read_tls_files(store_url&, std::optional<tls_options>& into, std::string_view without);

} // namespace holdfast::url
