// SPDX-License-Identifier: Apache-2.0
#include "support/host_names.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <netdb.h>

namespace holdfast::support {
namespace {

struct known_host {
    std::vector<std::string> addresses;
    std::size_t look_ups = 0;
    bool holds_back = false;
    std::size_t answers = 0; ///< number of lookups that may return now; others wait
};

struct name_service {
    std::mutex mutex;
    std::condition_variable may_answer;
    std::map<std::string, known_host> hosts;
};

name_service& the_service() {
    static name_service one;
    return one;
}

std::optional<std::vector<std::string>> addresses_of(const char* host) {
    if (host == nullptr)
        return std::nullopt;
    std::unique_lock guard{the_service().mutex};
    const auto found = the_service().hosts.find(host);
    if (found == the_service().hosts.end())
        return std::nullopt;
    known_host& known = found->second;
    ++known.look_ups;
    the_service().may_answer.wait(guard, [&] { return !known.holds_back || known.answers > 0; });
    known.answers -= known.holds_back ? 1 : 0;
    return known.addresses;
}

} // namespace

void set_address(const std::string& host, const std::string& address) {
    if (address.empty())
        set_addresses(host, {});
    else
        set_addresses(host, {address});
}

void set_addresses(const std::string& host, std::vector<std::string> addresses) {
    const std::scoped_lock guard{the_service().mutex};
    the_service().hosts[host].addresses = std::move(addresses);
}

std::size_t look_ups_of(const std::string& host) {
    const std::scoped_lock guard{the_service().mutex};
    return the_service().hosts[host].look_ups;
}

void hold_back(const std::string& host) {
    const std::scoped_lock guard{the_service().mutex};
    the_service().hosts[host].holds_back = true;
}

void let_go(const std::string& host, std::size_t times) {
    const std::scoped_lock guard{the_service().mutex};
    the_service().hosts[host].answers += times;
    the_service().may_answer.notify_all();
}

} // namespace holdfast::support

/// Replaces the function of the C library. For names that the test has not set, calls the original
/// function.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints,
                           addrinfo** found) {
    using function = int(const char*, const char*, const addrinfo*, addrinfo**);
    static auto* const next = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const auto addresses = holdfast::support::addresses_of(host);
    if (!addresses)
        return next(host, service, hints, found);
    if (addresses->empty())
        return EAI_AGAIN;
    addrinfo** behind = found;
    // Join the results of all addresses to one list, which freeaddrinfo() frees as a whole.
    for (const std::string& each : *addresses) {
        if (const int failed = next(each.c_str(), service, hints, behind))
            return failed;
        while (*behind != nullptr)
            behind = &(*behind)->ai_next;
    }
    return 0;
}
