// SPDX-License-Identifier: Apache-2.0
#include "net/option_checks.hpp"

#include "net/failure.hpp"
#include "net/tls_context.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>

#include <sys/un.h>

namespace holdfast::net {
namespace {

/// Upper limit for all times. No program needs to wait longer, and timers with 64-bit milliseconds
/// cannot overflow.
constexpr duration longest_time = std::chrono::hours{24};
constexpr std::size_t servers_most = 64;

} // namespace

void option_checks::require(bool holds, std::string_view why_not) const {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          std::string{whose_}.append(": ").append(why_not)};
}

void option_checks::time(duration value, std::string_view field, duration least) const {
    require(value >= least && value <= longest_time,
            std::string{field} + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

void option_checks::backoff(duration least, duration most) const {
    time(least, "backoff_min");
    time(most, "backoff_max");
    require(least <= most, "backoff_min is longer than backoff_max");
}

void option_checks::no_nul(std::string_view text, std::string_view field) const {
    require(text.find('\0') == text.npos, std::string{field} + " contains a NUL byte");
}

void option_checks::unix_socket(std::string_view path) const {
    no_nul(path, "unix_socket");
    require(path.size() < sizeof(sockaddr_un::sun_path),
            "unix_socket is longer than the 107 bytes that the system allows");
}

void option_checks::host(std::string_view name, std::string_view field) const {
    require(!name.empty(), std::string{field} + " is empty");
    no_nul(name, field);
}

std::string option_checks::repeated::numbers() const {
    return "number " + std::to_string(first) + " and " + std::to_string(again);
}

std::optional<option_checks::repeated> option_checks::servers(std::vector<server_address> all,
                                                              std::uint16_t usual_port,
                                                              std::string_view field) const {
    const std::string subject{field};
    require(!all.empty() && all.size() <= servers_most,
            subject + " has " + std::to_string(all.size()) + " entries; allowed are 1 to 64");
    const auto number_of = [&](auto one) {
        return static_cast<std::size_t>(one - all.begin()) + 1;
    };
    for (auto one = all.begin(); one != all.end(); ++one) {
        host(one->host, subject + ": a host");
        if (one->port == 0)
            one->port = usual_port;
        const auto first = std::find(all.begin(), one, *one);
        if (first != one)
            return repeated{*one, number_of(first), number_of(one)};
    }
    return std::nullopt;
}

void option_checks::certificate(const tls_options& tls, const std::string& field) const {
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            field + ".certificate_file and " + field +
                ".key_file belong together, and one is missing");
}

void option_checks::files(const tls_options& tls) const {
    try {
        check_files(tls);
    } catch (const failure& why) {
        require(false, why.text());
    }
}

} // namespace holdfast::net
