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

/// Why TLS does not go on. Returned, and without an error code: a loaded module may have a C++
/// runtime of its own, and has error categories of its own, which are never equal to ours. So no
/// exception leaves what is below.
struct tls_trouble {
    std::optional<store_errc> code; ///< nothing: a file cannot be used
    std::string text;
};

using maybe_trouble = std::optional<tls_trouble>;

/// One connection's TLS. All that `tls_session` promises.
class tls_talk {
public:
    virtual ~tls_talk() = default;

    virtual bool established() const = 0;
    [[nodiscard]] virtual bool seal(std::string_view plain, std::string& out) = 0;
    [[nodiscard]] virtual maybe_trouble open(std::string_view received, std::string_view& said) = 0;
    virtual bool ended() const = 0;
    virtual void say_goodbye(std::string& out) = 0;
};

/// What the connections to one server have in common.
class tls_engine {
public:
    virtual ~tls_engine() = default;

    /// Whether a file cannot be used, as for begin().
    [[nodiscard]] virtual maybe_trouble check_files() const = 0;
    [[nodiscard]] virtual maybe_trouble begin(std::unique_ptr<tls_talk>& begun) = 0;
};

/// For a server that has a certificate of this name. `made` is empty if it cannot be loaded.
[[nodiscard]] maybe_trouble make_tls_engine(const tls_options&, const std::string& server_name,
                                            std::unique_ptr<tls_engine>& made);

} // namespace holdfast::net
