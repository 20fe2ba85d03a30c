// SPDX-License-Identifier: Apache-2.0
#include "chaos/host_names.hpp"

#include <map>
#include <mutex>
#include <optional>

#include <dlfcn.h>
#include <netdb.h>

namespace holdfast::chaos {
namespace {

struct name_service {
    std::mutex mutex;
    std::map<std::string, std::string> addresses;
};

name_service& the_service() {
    static name_service one;
    return one;
}

std::optional<std::string> address_of(const char* host) {
    if (host == nullptr)
        return std::nullopt;
    const std::scoped_lock guard{the_service().mutex};
    const auto& known = the_service().addresses;
    const auto found = known.find(host);
    return found == known.end() ? std::nullopt : std::optional{found->second};
}

} // namespace

void set_address(const std::string& host, const std::string& address) {
    const std::scoped_lock guard{the_service().mutex};
    the_service().addresses[host] = address;
}

} // namespace holdfast::chaos

/// In place of the C library's, which it asks for all other names and for numbers.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
    using function = int(const char*, const char*, const addrinfo*, addrinfo**);
    static auto* const next = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const std::optional<std::string> address = holdfast::chaos::address_of(host);
    if (address && address->empty())
        return EAI_AGAIN;
    return next(address ? address->c_str() : host, service, hints, found);
}
