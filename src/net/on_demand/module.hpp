// SPDX-License-Identifier: Apache-2.0
// The one function of the module that does TLS. Both sides come from one build: the folder of the
// module has the version in its name.
#pragma once

#include "net/tls_engine.hpp"

extern "C" {
using holdfast_tls_maker = holdfast::net::tls_engine*(const holdfast::tls_options&,
                                                      const std::string& server_name);

/// Whoever calls it owns the result.
[[gnu::visibility("default")]] holdfast_tls_maker holdfast_make_tls_engine;
}
