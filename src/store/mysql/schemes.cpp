// SPDX-License-Identifier: Apache-2.0
#include "mysql/availability.hpp"
#include "store/mysql/url.hpp"

namespace holdfast::mysql {
namespace {

store_factory store_at(store_url& url) {
    options how = read_url(url);
    if (const std::string objection = objection_to_library(); !objection.empty())
        url.refuse(objection);
    return make_store(std::move(how));
}

} // namespace

void add_schemes() {
    for (const char* scheme : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"})
        add_store_scheme(scheme, store_at);
}

} // namespace holdfast::mysql
