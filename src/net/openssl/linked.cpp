// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/engine.hpp"

namespace holdfast::net {

std::unique_ptr<tls_engine> make_tls_engine(const tls_options& how,
                                            const std::string& server_name) {
    return std::make_unique<openssl_engine>(how, server_name);
}

} // namespace holdfast::net
