// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/url.hpp"

namespace holdfast::mysql {

void add_schemes() {
    for (const char* scheme : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"})
        add_store_scheme(scheme, [](store_url& url) { return make_store(read_url(url)); });
}

} // namespace holdfast::mysql
