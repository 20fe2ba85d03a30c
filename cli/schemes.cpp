// SPDX-License-Identifier: Apache-2.0
#include "cli/schemes.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/mysql/options.hpp>
#else
#include <holdfast/schemes.hpp>
#endif

namespace cli {

#ifdef HOLDFAST_WITH_MYSQL

void add_schemes() {
    holdfast::mysql::add_schemes();
}

#else

void add_schemes() {
    for (const char* scheme : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"})
        holdfast::add_store_scheme(scheme, [](holdfast::store_url& url) -> holdfast::store_factory {
            url.refuse("this program was built without libmariadb, so it has no " + url.scheme() +
                       "://");
        });
}

#endif

} // namespace cli
