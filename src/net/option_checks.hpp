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

/// Longest name in a certificate and in a ClientHello.
inline constexpr std::size_t server_name_bytes_max = 253;

/// Checks of options that all stores share. Each check throws `errc::invalid_argument`; the text
/// contains `whose` and names the field.
class option_checks {
public:
    /// `whose`: a string literal, for example `redis::options`.
    explicit constexpr option_checks(std::string_view whose)
        : whose_{whose} {}

    void require(bool holds, std::string_view why_not) const;

    /// Checks that a time is between `least` and 1 day.
    void time(duration value, std::string_view field, duration least = duration{1}) const;
    void backoff(duration least, duration most) const;

    void no_nul(std::string_view text, std::string_view field) const;
    void unix_socket(std::string_view path) const;
    void host(std::string_view name, std::string_view field) const;

    /// A server that is in a list twice, and its two positions.
    struct repeated {
        server_address which;
        std::size_t first, again;

        std::string numbers() const; ///< for example `number 1 and 2`
    };
    /// Checks a list of 1 to 64 servers, each with a host. Port 0 means `usual_port`. Returns the
    /// first repeated server; servers after it are not checked.
    [[nodiscard]] std::optional<repeated>
    servers(std::vector<server_address>, std::uint16_t usual_port, std::string_view field) const;

    /// Checks that certificate and key are given together.
    void certificate(const tls_options&, const std::string& field) const;
    /// Checks that the files can be read and used.
    void files(const tls_options&) const;

private:
    const std::string_view whose_;
};

} // namespace holdfast::net
