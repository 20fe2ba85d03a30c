// SPDX-License-Identifier: Apache-2.0
#include "mysql/libmariadb.hpp"

#include <openssl/err.h>

namespace holdfast::mysql {

std::string objection_to_library() {
    return {};
}

void forget_tls_errors() noexcept {
    ERR_clear_error();
}

} // namespace holdfast::mysql
