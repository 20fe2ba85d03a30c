// SPDX-License-Identifier: Apache-2.0
#include "redis/wire/host.hpp"

#include "redis/wire/number.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

bool is_printable_word(std::string_view text) {
    constexpr std::size_t length_max = 253;
    const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
    return !text.empty() && text.size() <= length_max && std::ranges::all_of(text, printable);
}

} // namespace

bool is_host(std::string_view text) {
    return is_printable_word(text) && !text.starts_with('/');
}

bool is_host_beside(std::string_view text, std::string_view asked) {
    return is_printable_word(text) && (!text.starts_with('/') || asked.starts_with('/'));
}

std::optional<std::uint16_t> read_port(std::string_view text) {
    const auto port = number_in<std::uint16_t>(text);
    return port == 0 ? std::nullopt : port;
}

std::optional<server_address> read_host_and_port(std::string_view text, std::string_view asked) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos)
        return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    if (host.empty() || host == "?")
        host = asked;
    const auto port = read_port(text.substr(colon + 1));
    if (!port || !is_host_beside(host, asked))
        return std::nullopt;
    return server_address{std::string{host}, *port};
}

} // namespace holdfast::redis
