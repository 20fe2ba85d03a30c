// SPDX-License-Identifier: Apache-2.0
// Entry point of the TLS module. The module and the library always come from the same build,
// because the name of the module's folder contains the version.
#pragma once

#include "net/tls.hpp"

extern "C" {
using holdfast_tls_maker = holdfast::net::tls_engine*(const holdfast::tls_options&,
                                                      const std::string& server_name);

/// Creates an engine; the caller owns it.
[[gnu::visibility("default")]] holdfast_tls_maker holdfast_make_tls_engine;
}
