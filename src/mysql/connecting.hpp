// SPDX-License-Identifier: Apache-2.0
// Functions that make a connection to a real server: the login (`dial`), the set-up of the session,
// and the factory that does both (`libmariadb_factory`).
#pragma once

#include "mysql/connection.hpp"
#include "mysql/libmariadb.hpp"
#include "net/failure.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/mysql/options.hpp>
#include <holdfast/store.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

inline constexpr std::uint16_t usual_port = 3306;

/// Address and login data for a connection.
struct door {
    server_address where{};
    std::string unix_socket{}; ///< if set, `where` is not used
    std::string schema{};
    credentials who{};
    std::optional<tls_options> tls{};
    std::string server_key_file{};
    std::string label{}; ///< name of the client, shown to administrators
    duration limit{};    ///< timeout of connecting; libmariadb rounds it up to seconds
};

/// Connects and logs in. Returns a connection whose socket is non-blocking and close-on-exec.
/// Throws `failure` with the code of `classify_connecting`. Throws unreachable if the login is not
/// complete at `give_up_at`. Throws closed when `given_up` returns true; `given_up` is called each
/// time that the alarm `wake` rings.
///
/// The non-blocking connect function of libmariadb does block, in the address lookup and in the TLS
/// handshake. If the server stops answering in the handshake, the function blocks without a limit,
/// and would block the executor. Therefore a separate thread connects. Nothing can stop that
/// thread: when the caller gives up, the thread runs until the library's timeouts have passed,
/// closes its result and ends.
asio::awaitable<handle> dial(const store_context&, door, time_point give_up_at, alarm& wake,
                             std::function<bool()> given_up);

/// Sets the session variables to the values that the store's statements need. Then reads facts
/// about the server and its clock. Throws `failure` if a statement fails, or if the server must not
/// be used for locks.
asio::awaitable<server_info> set_up(server_connection&, duration keep_alive, time_point limit);

/// Reads the facts and the clock again, on an idle connection. This keeps the connection alive, and
/// shows whether the server still accepts writes. Throws `failure` in the same cases as `set_up`.
asio::awaitable<server_info> look_again(server_connection&, time_point limit);

/// Factory of connections to real servers.
class libmariadb_factory final : public connection_factory {
public:
    /// Both arguments must outlive the factory and its connections.
    libmariadb_factory(const store_context&, const options&);

    asio::awaitable<introduced> make(const server_address&, time_point give_up_at) override;
    std::string address_of(const server_address&) const override;
    void close() noexcept override;

private:
    class dial_attempt;

    door door_to(const server_address&) const;

    const store_context& home_;
    const options& how_;
    std::vector<dial_attempt*> under_way_;
    bool closed_ = false;
};

} // namespace holdfast::mysql
