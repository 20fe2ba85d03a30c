// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/address.hpp>
#include <holdfast/time.hpp>
#include <holdfast/tls.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// Length limit of a server name in a certificate and in a ClientHello, in bytes.
inline constexpr std::size_t server_name_bytes_max = 253;

/// Checks for the options that all stores have. Each check throws `errc::invalid_argument`; its
/// text contains `whose` and names the field.
class option_checks {
public:
    /// `whose` is a string literal that names the options, for example `redis::options`.
    explicit constexpr option_checks(std::string_view whose)
        : whose_{whose} {}

    void require(bool holds, std::string_view why_not) const;

    /// Checks that a time is between `least` and 1 day.
    void time(duration value, std::string_view field, duration least = duration{1}) const;
    void backoff(duration least, duration most) const;

    void no_nul(std::string_view text, std::string_view field) const;
    void unix_socket(std::string_view path) const;
    void host(std::string_view name, std::string_view field) const;

    /// Server that appears twice in a list, with its two positions.
    struct repeated {
        server_address which;
        std::size_t first, again;

        /// Returns the positions as text, for example `number 1 and 2`.
        std::string numbers() const;
    };
    /// Checks a list of 1 to 64 servers, each with a host. Port 0 means `usual_port`. Returns the
    /// first repeated server; servers after it are not checked.
    [[nodiscard]] std::optional<repeated>
    servers(std::vector<server_address>, std::uint16_t usual_port, std::string_view field) const;

    /// Checks that a certificate is given with its key, and a key with its certificate.
    void certificate(const tls_options&, const std::string& field) const;
    /// Checks that the files can be read and used.
    void files(const tls_options&) const;

private:
    const std::string_view whose_;
};

} // namespace holdfast::net
