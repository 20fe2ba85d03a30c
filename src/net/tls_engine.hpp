// SPDX-License-Identifier: Apache-2.0
// Interface of the TLS implementation. src/net/openssl is the only implementation. The static
// library links it. The shared library and the program load it when the first server needs TLS
// (src/net/on_demand). The library is loaded late because the dynamic linker needs more time for
// OpenSSL than for everything else, and most servers do not use TLS.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/tls.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::net {

/// TLS error. It is returned and not thrown, and it has no std or Boost error code. The reason is
/// that a loaded module may have its own C++ runtime. Exceptions must not leave the module, and its
/// error categories never compare equal to ours.
struct tls_trouble {
    std::optional<store_errc> code; ///< empty if a file cannot be used
    std::string text;
};

using maybe_trouble = std::optional<tls_trouble>;

/// TLS of one connection; see `tls_session` for the functions.
class tls_talk {
public:
    virtual ~tls_talk() = default;

    virtual bool established() const = 0;
    [[nodiscard]] virtual bool seal(std::string_view plain, std::string& out) = 0;
    [[nodiscard]] virtual maybe_trouble open(std::string_view received, std::string_view& said) = 0;
    virtual bool ended() const = 0;
    virtual void say_goodbye(std::string& out) = 0;
};

/// TLS settings that all connections to one server share.
class tls_engine {
public:
    virtual ~tls_engine() = default;

    /// Checks the certificate files. Returns the errors that begin() would return for them.
    [[nodiscard]] virtual maybe_trouble check_files() const = 0;
    [[nodiscard]] virtual maybe_trouble begin(std::unique_ptr<tls_talk>& begun) = 0;
};

/// Creates the TLS engine for a server; `server_name` is the name that the certificate must have.
/// `made` stays empty if TLS cannot be loaded.
[[nodiscard]] maybe_trouble make_tls_engine(const tls_options&, const std::string& server_name,
                                            std::unique_ptr<tls_engine>& made);

} // namespace holdfast::net
