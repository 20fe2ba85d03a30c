// SPDX-License-Identifier: Apache-2.0
// TLS of the connections, and the interface of the TLS implementation. src/net/openssl is the only
// implementation. The static library links it. The shared library and the program load it when a
// server needs TLS for the first time (src/net/on_demand). Most servers do not use TLS, and loading
// OpenSSL takes longer than loading everything else.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/tls.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::net {

/// TLS error. It is returned and not thrown, because a loaded module may have its own C++ runtime,
/// and exceptions must not leave the module. It has no std or Boost error code, because error
/// categories of the module and of the library never compare equal.
struct tls_trouble {
    std::optional<store_errc> code; ///< code of the error; empty if a file cannot be used
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

/// Creates the TLS engine for a server. `server_name` is the name that the server's certificate
/// must have. If TLS cannot be loaded, `made` stays empty.
[[nodiscard]] maybe_trouble make_tls_engine(const tls_options&, const std::string& server_name,
                                            std::unique_ptr<tls_engine>& made);

/// TLS session without I/O: it encrypts data to be sent, and decrypts data that was received. The
/// connection does the I/O, so it writes, waits and ends in the same way with and without TLS.
///
/// Until established() is true, send the output of seal("") and pass all received data to open().
class tls_session {
public:
    /// Creates the session. `begun` is a TLS client session whose handshake has begun.
    explicit tls_session(std::unique_ptr<tls_talk> begun)
        : talk_{std::move(begun)} {}

    /// Returns whether these first bytes show that the peer speaks TLS.
    static bool is_tls(std::string_view first_bytes);

    bool established() const { return talk_->established(); }

    /// Appends to `out` the data to send: TLS's own messages, and then `plain` encrypted. Returns
    /// false if the session is broken; `plain` is not encrypted then.
    [[nodiscard]] bool seal(std::string_view plain, std::string& out) {
        return talk_->seal(plain, out);
    }

    /// Decrypts received data and returns it; the view is valid until the next call. Throws
    /// `failure` with one of these codes:
    /// - `store_errc::untrusted`: the server's certificate is not accepted.
    /// - `store_errc::not_authenticated`: the server does not accept this client.
    /// - `store_errc::tls_failed`: any other error.
    std::string_view open(std::string_view received);

    /// Returns whether the server has sent close_notify. If the connection ends without
    /// close_notify, the end of the data may be missing.
    bool ended() const { return talk_->ended(); }

    /// Appends this client's close_notify to `out`.
    void say_goodbye(std::string& out) { talk_->say_goodbye(out); }

private:
    const std::unique_ptr<tls_talk> talk_;
    bool heard_ = false;
};

/// TLS settings that all connections to one server share.
class tls_context {
public:
    /// Creates the settings, and reads no file yet. Throws `failure` (unreachable) if TLS is not
    /// available.
    tls_context(const tls_options&, const std::string& host);

    /// Starts a session with the current contents of the certificate files. Throws `failure`
    /// (unreachable) if a file cannot be used; the text names the file.
    std::unique_ptr<tls_session> begin();

private:
    const std::unique_ptr<tls_engine> engine_;
};

/// Checks the files, and throws the errors that `begin` would throw for them. The call also
/// initializes OpenSSL. A static object whose constructor makes this call is therefore destroyed
/// before OpenSSL cleans up at the end of the program.
void check_files(const tls_options&);

} // namespace holdfast::net
