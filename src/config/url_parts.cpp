// SPDX-License-Identifier: Apache-2.0
#include "config/url_parts.hpp"

#include "config/errors.hpp"
#include "config/url.hpp"
#include "runtime/secret.hpp"

#include <boost/asio/ip/address_v6.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>

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
                   " has a '%' that is not followed by two hexadecimal digits; write '%' itself as "
                   "%25");
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
        refuse("url: the user or the password contains an '@'; write it as %40. Give the user and "
               "the password once, before the first host");
}

/// Removes `[address]` from the front of `rest`, and returns the address.
std::string take_ipv6(std::string_view& rest, const parts& all) {
    rest.remove_prefix(1);
    const auto address = take_until(rest, ']');
    if (!address)
        refuse("url: the host has a '[' without a ']' after it");
    if (!rest.empty() && rest[0] != ':')
        refuse("url: after the host's ']', only a ':' and a port may follow, or a ',' and another "
               "host");
    std::string host = decoded(*address, "host");
    boost::system::error_code failed;
    boost::asio::ip::make_address_v6(host, failed);
    if (failed)
        refuse("url: the host [" + shown(all, host) + "] is not an IPv6 address");
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

/// Returns whether the URL has a parameter whose name says that its value is a password. The name
/// may also be one that another client library uses. Splits the query at '&' and also at '?', which
/// may be a typing error for '&'.
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
        refuse("url: it contains a space or a control character; write such a byte as % and two "
               "hexadecimal digits (a space is %20)");
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
    return "(not shown, because it may be a part of the password; in a password, write '/', '?', "
           "'#', '@' and '&' as %2F, %3F, %23, %40 and %26)";
}

std::uint16_t read_port(const parts& all, const std::string& text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, port);
    if (failed != std::errc{} || behind != end || port == 0)
        refuse("url: the port (the text after the host's ':') must be a number from 1 to 65535; "
               "write an IPv6 address in brackets, as in " +
               all.scheme +
               "://[::1]:1234, and write '@' and the host after the user and the password");
    return port;
}

std::vector<server_address> servers_in(const parts& all, std::string_view example) {
    if (!all.has_authority)
        refuse("url: after " + all.scheme + ": two slashes and a host must follow, as in " +
               std::string{example});
    std::vector<server_address> found;
    for (const host_and_port& each : all.hosts) {
        if (each.host.empty())
            refuse(
                std::string{
                    all.hosts.size() > 1
                        ? "url: one of its hosts is empty; write one ',' between two hosts, as in "
                        : "url: it names no host, as in "} +
                std::string{example});
        found.push_back({each.host, each.port ? read_port(all, *each.port) : std::uint16_t{}});
    }
    return found;
}

namespace {

constexpr std::pair<std::string_view, duration> units[] = {
    {"ms", std::chrono::milliseconds{1}},
    {"s", std::chrono::seconds{1}},
    {"m", std::chrono::minutes{1}},
    {"h", std::chrono::hours{1}},
};

constexpr const char* allowed =
    "; a duration is a whole number with the unit ms, s, m or h, as in 500ms";

length no_length(std::string why) {
    return {.objection = std::move(why) + allowed};
}

} // namespace

length read_length(std::string_view text) {
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, count);
    if (failed == std::errc::result_out_of_range)
        return no_length("is too large");
    if (failed != std::errc{} || count < 0)
        return no_length("does not begin with a number");
    const std::string_view unit{behind, static_cast<std::size_t>(end - behind)};
    if (unit.empty())
        return no_length("has no unit");
    for (const auto& [name, one] : units)
        if (unit == name)
            return count > duration::max() / one ? no_length("is too large")
                                                 : length{.value = count * one};
    return no_length("has an unknown unit " + in_quotes(unit));
}

} // namespace holdfast::url

namespace holdfast {
namespace {

/// Returns the Levenshtein distance: the number of letters that must be changed, inserted or
/// removed to turn one text into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string advice_for(std::string_view name, const std::vector<std::string>& known) {
    if (known.empty())
        return "; this scheme has none";
    const auto farther = [&](const std::string& a, const std::string& b) {
        return distance(a, name) < distance(b, name);
    };
    const auto nearest = std::min_element(known.begin(), known.end(), farther);
    if (name.size() < 100 && distance(*nearest, name) <= nearest->size() / 3)
        return "; do you mean " + *nearest + "?";
    std::string all = "; the allowed parameters are";
    for (const std::string& each : known)
        all.append(&each == &known.front() ? " " : ", ").append(each);
    return all;
}

} // namespace

const url::parts& store_url::inside() const noexcept {
    return inside_.all;
}
const std::string& store_url::scheme() const noexcept {
    return inside().scheme;
}
const std::string& store_url::user() const noexcept {
    return inside().user;
}
const secret& store_url::password() const noexcept {
    return inside().password;
}
const credential_provider& store_url::credentials() const noexcept {
    return inside_.logging_in;
}
const std::string& store_url::path() const noexcept {
    return inside().path;
}
const std::vector<std::string>& store_url::segments() const noexcept {
    return inside().segments;
}

bool store_url::names_servers() const noexcept {
    const std::vector<url::host_and_port>& hosts = inside().hosts;
    return hosts.size() > 1 || !hosts.front().host.empty() || hosts.front().port;
}

std::vector<server_address> store_url::servers(std::string_view example) const {
    return url::servers_in(inside(), example);
}

std::optional<std::string_view> store_url::given(std::string_view name) {
    if (std::ranges::find(inside_.known, name) == inside_.known.end())
        inside_.known.emplace_back(name);
    const auto found = std::ranges::find(inside().parameters, name, &url::parameter::name);
    if (found == inside().parameters.end())
        return std::nullopt;
    if (std::ranges::count(inside().parameters, name, &url::parameter::name) > 1)
        refuse(std::string{name} + " is given twice");
    return found->value.reveal();
}

void store_url::refuse_unknown() const {
    for (const url::parameter& each : inside().parameters)
        if (std::ranges::find(inside_.known, each.name) == inside_.known.end())
            refuse("unknown parameter " + shown(each.name) + advice_for(each.name, inside_.known));
}

void store_url::refuse(std::string_view why) const {
    holdfast::refuse("url: " + std::string{why});
}

std::string store_url::shown(std::string_view text) const {
    return url::shown(inside(), text);
}

// Functions that read the values of parameters: they convert the text to the type of a field.

namespace {

std::string listed(const std::vector<std::string_view>& words) {
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i)
        all.append(i == 0 ? "" : i + 1 < words.size() ? ", " : " and ").append(words[i]);
    return all;
}

} // namespace

void store_url::read(std::string_view name, std::string& into) {
    if (const auto text = given(name))
        into = *text;
}

void store_url::read(std::string_view name, secret& into) {
    if (const auto text = given(name))
        into = *text;
}

void store_url::read(std::string_view name, bool& into) {
    const auto text = given(name);
    if (text && *text != "yes" && *text != "no")
        refuse(std::string{name} + " must be yes or no, not " + shown(*text));
    if (text)
        into = *text == "yes";
}

void store_url::read(std::string_view name, duration& into) {
    const auto text = given(name);
    if (!text)
        return;
    const url::length length = url::read_length(*text);
    if (!length.objection.empty())
        refuse(std::string{name} + " " + shown(*text) + " " +
               (inside().may_show ? length.objection : "is not a duration"));
    into = length.value;
}

void store_url::read(std::string_view name, std::optional<duration>& into) {
    duration length{};
    read(name, length);
    if (given(name))
        into = length;
}

std::optional<std::uint64_t> store_url::count_of(std::string_view name, std::uint64_t most) {
    const auto text = given(name);
    if (!text)
        return std::nullopt;
    // Refuse a number above the greatest 32-bit number, because every limit is at most this number.
    most = std::min<std::uint64_t>(most, std::numeric_limits<std::uint32_t>::max());
    std::uint64_t number = 0;
    const char* const end = text->data() + text->size();
    const auto [behind, failed] = std::from_chars(text->data(), end, number);
    if (failed != std::errc{} || behind != end || number > most)
        refuse(std::string{name} + " " + shown(*text) + " is not a whole number" +
               (failed == std::errc{} && behind == end ? " up to " + std::to_string(most) : "") +
               ", as in 100");
    return number;
}

std::optional<std::size_t> store_url::which_of(std::string_view name,
                                               const std::vector<std::string_view>& allowed) {
    const auto text = given(name);
    if (!text)
        return std::nullopt;
    const auto found = std::ranges::find(allowed, *text);
    if (found == allowed.end())
        refuse(std::string{name} + " " + shown(*text) + " is not allowed; allowed are " +
               listed(allowed));
    return static_cast<std::size_t>(found - allowed.begin());
}

void store_url::read_tls(std::optional<tls_options>& into) {
    bool wanted = into.has_value();
    read("tls", wanted);
    if (!wanted)
        into.reset();
    else if (!into)
        into.emplace();
    url::read_tls_files(*this, into, "requires tls=yes; without TLS, nothing is protected");
}

} // namespace holdfast

namespace holdfast::url {
namespace {

constexpr std::pair<std::string_view, std::string tls_options::*> files[] = {
    {"tls_ca_file", &tls_options::ca_file},
    {"tls_certificate_file", &tls_options::certificate_file},
    {"tls_key_file", &tls_options::key_file},
    {"tls_server_name", &tls_options::server_name},
};
constexpr std::string_view unsafe = "tls_insecure_skip_verification";

/// Returns the TLS options that a TLS parameter of the URL changes. Throws if the URL does not use
/// TLS, because the parameter must not be silently ignored.
tls_options& needed(const store_url& url, std::optional<tls_options>& tls, std::string_view name,
                    std::string_view without) {
    if (!tls)
        url.refuse(std::string{name} + ' ' + std::string{without});
    return *tls;
}

} // namespace

void read_tls_files(store_url& url, std::optional<tls_options>& into, std::string_view without) {
    for (const auto& [name, field] : files)
        if (const auto text = url.given(name))
            needed(url, into, name, without).*field = *text;
    const auto text = url.given(unsafe);
    if (text && *text != "yes")
        url.refuse(std::string{unsafe} + " must be yes or must be left out, not " +
                   url.shown(*text));
    if (text)
        needed(url, into, unsafe, without).insecure_skip_verification = true;
}

} // namespace holdfast::url
