// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/engine.hpp"

namespace holdfast::net {

maybe_trouble make_tls_engine(const tls_options& how, const std::string& server_name,
                              std::unique_ptr<tls_engine>& made) {
    made = std::make_unique<openssl_engine>(how, server_name);
    return std::nullopt;
}

} // namespace holdfast::net
