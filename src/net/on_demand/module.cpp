// SPDX-License-Identifier: Apache-2.0
#include "net/on_demand/module.hpp"

#include "net/openssl/engine.hpp"

holdfast::net::tls_engine* holdfast_make_tls_engine(const holdfast::tls_options& how,
                                                    const std::string& server_name) {
    return new holdfast::net::openssl_engine{how, server_name};
}
