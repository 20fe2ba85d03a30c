// SPDX-License-Identifier: Apache-2.0
// Support for the URL memory:NAME. A program that links holdfast::testing can use such URLs without
// any call: the component makes the linker keep `holdfast_memory_scheme` (tools/testing.cmake).
#include <holdfast/memory/server.hpp>
#include <holdfast/schemes.hpp>

namespace holdfast::memory {
namespace {

store_factory store_named(store_url& url) {
    if (url.names_servers() || url.path().starts_with('/'))
        url.refuse("memory: is followed by a name and no slashes, as in memory:test");
    if (url.path().empty())
        url.refuse("memory: needs a name behind it, as in memory:test");
    url.refuse_unknown();
    return server::named(url.path())->connect();
}

bool add_scheme() {
    add_store_scheme("memory", store_named);
    return true;
}

} // namespace
} // namespace holdfast::memory

extern "C" {
HOLDFAST_EXPORT extern const bool holdfast_memory_scheme;
const bool holdfast_memory_scheme = holdfast::memory::add_scheme();
}
