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

/// What a certificate or a hello can carry at all.
inline constexpr std::size_t server_name_bytes_max = 253;

/// What the options of each store are checked for. What is wrong throws `errc::invalid_argument`;
/// the text says whose options they are, and names the field.
class option_checks {
public:
    /// `whose`: a literal, as `redis::options`.
    explicit constexpr option_checks(std::string_view whose)
        : whose_{whose} {}

    void require(bool holds, std::string_view why_not) const;

    /// `least` to 1 day.
    void time(duration value, std::string_view field, duration least = duration{1}) const;
    void backoff(duration least, duration most) const;

    void no_nul(std::string_view text, std::string_view field) const;
    void unix_socket(std::string_view path) const;
    void host(std::string_view name, std::string_view field) const;

    /// Which one is there twice, and its numbers in the list.
    struct repeated {
        server_address which;
        std::size_t first, again;

        std::string numbers() const; ///< `number 1 and 2`
    };
    /// 1 to 64 servers, each with a host. Port 0 is the usual one. Those behind a repeated one are
    /// not looked at.
    [[nodiscard]] std::optional<repeated>
    servers(std::vector<server_address>, std::uint16_t usual_port, std::string_view field) const;

    /// Certificate and key come together.
    void certificate(const tls_options&, const std::string& field) const;
    /// They can be read and used.
    void files(const tls_options&) const;

private:
    const std::string_view whose_;
};

} // namespace holdfast::net
