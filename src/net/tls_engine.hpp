// SPDX-License-Identifier: Apache-2.0
// What does TLS, as the rest sees it. src/net/openssl is the only one, and it is reached in one of
// two ways. The static library links it. The shared library and the program load it when the first
// server wants TLS (src/net/on_demand): the dynamic linker takes longer for OpenSSL than for all
// else, and most servers do not speak TLS.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/tls.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::net {

/// Why TLS does not go on. Thrown instead of `failure`, which has an error code: a loaded module
/// has a category of its own, and codes of two categories are never equal.
struct tls_trouble {
    std::optional<store_errc> code; ///< nothing: a file cannot be used
    std::string text;
};

/// One connection's TLS. All that `tls_session` promises, with `tls_trouble` thrown.
class tls_talk {
public:
    virtual ~tls_talk() = default;

    virtual bool established() const = 0;
    [[nodiscard]] virtual bool seal(std::string_view plain, std::string& out) = 0;
    virtual std::string_view open(std::string_view received) = 0;
    virtual bool ended() const = 0;
    virtual void say_goodbye(std::string& out) = 0;
};

/// What the connections to one server have in common.
class tls_engine {
public:
    virtual ~tls_engine() = default;

    /// Throws `tls_trouble` if a file cannot be used, as begin() would.
    virtual void check_files() const = 0;
    virtual std::unique_ptr<tls_talk> begin() = 0;
};

/// For a server that has a certificate of this name. Throws `tls_trouble` if it cannot be loaded.
std::unique_ptr<tls_engine> make_tls_engine(const tls_options&, const std::string& server_name);

} // namespace holdfast::net
