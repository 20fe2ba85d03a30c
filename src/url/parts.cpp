// SPDX-License-Identifier: Apache-2.0
#include "url/parts.hpp"

#include "refusal.hpp"
#include "runtime/wipe.hpp"
#include "url/schemes.hpp"

#include <boost/asio/ip/address_v6.hpp>

#include <algorithm>
#include <string>

namespace holdfast::url {
namespace {

/// Removes the text before `separator`, and the separator, from the front of `rest`. Returns the
/// removed text. Returns nothing, and leaves `rest` unchanged, if the separator is missing.
std::optional<std::string_view> take_until(std::string_view& rest, char separator) {
    const std::size_t at = rest.find(separator);
    if (at == rest.npos)
        return std::nullopt;
    const std::string_view before = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    return before;
}

int hex_value(char digit) {
    const auto at = std::string_view{"0123456789abcdef"}.find(
        static_cast<char>(digit >= 'A' && digit <= 'F' ? digit + ('a' - 'A') : digit));
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string decoded(std::string_view text, const char* part) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain.push_back(text[i]);
            continue;
        }
        const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0)
            refuse(std::string{"url: the "} + part +
                   " has a '%' that is not followed by two hexadecimal digits; a '%' itself is "
                   "written %25");
        plain.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    return plain;
}

secret decoded_secret(std::string_view text, const char* part) {
    std::string plain = decoded(text, part);
    secret kept{plain};
    runtime::wipe(plain);
    return kept;
}

void read_user(std::string_view user_and_password, parts& into) {
    std::string_view rest = user_and_password;
    if (const auto user = take_until(rest, ':')) {
        into.user = decoded(*user, "user");
        into.password = decoded_secret(rest, "password");
    } else {
        into.user = decoded(rest, "user");
    }
    if (user_and_password.find('@') != user_and_password.npos)
        refuse("url: user and password have an '@' in them; it is written %40 there. They stand "
               "once, before the first host");
}

/// Removes `[address]` from the front of `rest`, and returns the address.
std::string take_ipv6(std::string_view& rest, const parts& all) {
    rest.remove_prefix(1);
    const auto address = take_until(rest, ']');
    if (!address)
        refuse("url: the host has a '[' and no ']' behind it");
    if (!rest.empty() && rest[0] != ':')
        refuse("url: behind the host's ']' only a ':' and a port may follow, "
               "or a ',' and another host");
    std::string host = decoded(*address, "host");
    boost::system::error_code failed;
    boost::asio::ip::make_address_v6(host, failed);
    if (failed)
        refuse("url: the host [" + shown(all, host) + "] is no IPv6 address");
    return host;
}

host_and_port host_and_port_of(std::string_view rest, const parts& all) {
    host_and_port found;
    if (rest.starts_with('[')) {
        found.host = take_ipv6(rest, all);
    } else {
        const std::string_view host = rest.substr(0, rest.find(':'));
        found.host = decoded(host, "host");
        rest.remove_prefix(host.size());
    }
    if (rest.starts_with(':'))
        found.port = std::string{rest.substr(1)};
    return found;
}

void read_authority(std::string_view authority, parts& into) {
    into.has_authority = true;
    if (const std::size_t at = authority.rfind('@'); at != authority.npos) {
        read_user(authority.substr(0, at), into);
        authority.remove_prefix(at + 1);
    }
    into.hosts.clear();
    for (std::optional<std::string_view> one; (one = take_until(authority, ','));)
        into.hosts.push_back(host_and_port_of(*one, into));
    into.hosts.push_back(host_and_port_of(authority, into));
}

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> found;
    if (!take_until(path, '/'))
        return found;
    for (std::optional<std::string_view> one; (one = take_until(path, '/'));)
        found.push_back(decoded(*one, "path"));
    found.push_back(decoded(path, "path"));
    return found;
}

/// Returns whether the name of any parameter says that its value is a password. Names of other
/// clients are included. Also splits at '?', which may be a typing error for '&'.
bool has_password(std::string_view query) {
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find_first_of("&?"));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        std::string name{one.substr(0, one.find('='))};
        for (char& c : name)
            c = static_cast<char>(c | 0x20); // makes a letter lower case
        if (name.find("pass") != name.npos)
            return true;
    }
    return false;
}

std::vector<parameter> parameters_of(std::string_view query, const parts& all) {
    std::vector<parameter> found;
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        std::string_view value = one;
        const auto name = take_until(value, '=');
        if (!name)
            refuse("url: the parameter " + shown(all, one) +
                   " has no value; parameters are written name=value and joined by '&'");
        found.push_back(
            {decoded(*name, "name of a parameter"), decoded_secret(value, "value of a parameter")});
    }
    return found;
}

void refuse_bytes_no_url_has(std::string_view url) {
    const auto bad = [](char c) { return (c >= '\0' && c <= ' ') || c == '\x7f'; };
    if (std::any_of(url.begin(), url.end(), bad))
        refuse("url: it has a blank or a control character in it; such a byte is written as % and "
               "two hexadecimal digits, a blank %20");
}

} // namespace

std::string scheme_of(std::string_view text) {
    const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    const auto may_follow = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    };
    if (text.empty() || !is_letter(text[0]) || !std::all_of(text.begin(), text.end(), may_follow))
        return {};
    std::string scheme{text};
    for (char& c : scheme)
        c = static_cast<char>(is_letter(c) ? c | 0x20 : c);
    return scheme;
}

parts split(std::string_view url) {
    if (url.empty())
        refuse("url: it is empty; for example redis://127.0.0.1:6379");
    refuse_bytes_no_url_has(url);
    parts all;
    std::string_view rest = url;
    const auto before_colon = take_until(rest, ':');
    all.scheme = scheme_of(before_colon.value_or(""));
    if (all.scheme.empty())
        refuse("url: it does not begin with a scheme; " + allowed_schemes() + " are allowed");
    std::string_view authority;
    if (rest.starts_with("//")) {
        authority = rest.substr(2, rest.find_first_of("/?#", 2) - 2);
        rest.remove_prefix(2 + authority.size());
        all.may_show = authority.empty() || rest.find('@') == rest.npos;
        read_authority(authority, all);
    }
    std::string_view before_fragment = rest;
    if (const auto before = take_until(rest, '#'))
        all.fragment = std::string{rest}, before_fragment = *before;
    std::string_view query = before_fragment;
    const std::string_view path = take_until(query, '?').value_or(before_fragment);
    all.path = decoded(path, "path");
    all.segments = segments_of(path);
    if (path.size() < before_fragment.size()) {
        all.may_show = all.may_show && !has_password(query);
        all.parameters = parameters_of(query, all);
    }
    return all;
}

std::string shown(const parts& all, std::string_view given) {
    if (all.may_show)
        return in_quotes(given);
    return "(not shown, for it may be a piece of a password; there '/', '?', '#', '@' and '&' are "
           "written %2F, %3F, %23, %40 and %26)";
}

} // namespace holdfast::url
