// SPDX-License-Identifier: Apache-2.0
#include "url/hosts.hpp"

#include "refusal.hpp"

#include <charconv>
#include <string>

namespace holdfast::url {

std::uint16_t read_port(const parts& all, const std::string& text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, port);
    if (failed != std::errc{} || behind != end || port == 0)
        refuse("url: the port, what follows the host's ':', is no number from 1 to 65535; an IPv6 "
               "address is written in brackets, as in " +
               all.scheme + "://[::1]:1234, and user and password are followed by '@' and a host");
    return port;
}

std::vector<server_address> servers_in(const parts& all, std::string_view example) {
    if (!all.has_authority)
        refuse("url: behind " + all.scheme + ": two slashes and a host must follow, as in " +
               std::string{example});
    std::vector<server_address> found;
    for (const host_and_port& each : all.hosts) {
        if (each.host.empty())
            refuse(std::string{all.hosts.size() > 1 ? "url: one of its hosts is empty; hosts are "
                                                      "separated by one ',' each, as in "
                                                    : "url: it names no host, as in "} +
                   std::string{example});
        found.push_back({each.host, each.port ? read_port(all, *each.port) : std::uint16_t{}});
    }
    return found;
}

} // namespace holdfast::url
