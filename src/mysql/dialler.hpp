// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/handle.hpp"
#include "net/failure.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/mysql/options.hpp>
#include <holdfast/store.hpp>

#include <functional>
#include <optional>
#include <string>

namespace holdfast::mysql {

inline constexpr std::uint16_t usual_port = 3306;

/// Address and login of a connection.
struct door {
    server_address where{};
    std::string unix_socket{}; ///< if set, `where` is not used
    std::string schema{};
    credentials who{};
    std::optional<tls_options> tls{};
    std::string server_key_file{};
    std::string label{}; ///< name of the client, for people
    duration limit{};    ///< timeout of connecting; the library rounds it up to seconds
};

/// Connects and logs in. Returns a connection whose socket is non-blocking and close-on-exec.
/// Throws `failure` with the code of `classify_connecting`. Throws unreachable at `give_up_at`.
/// Throws closed once `given_up` returns true, which is checked whenever `wake` rings.
///
/// In spite of its name, libmariadb's non-blocking connect blocks in the address lookup and in the
/// TLS handshake. It blocks without a limit if the server stops answering there. The executor would
/// be blocked too. So a separate thread connects. That thread cannot be stopped: when the caller
/// gives up, the thread closes its result and ends by the timeouts of the library.
asio::awaitable<handle> dial(const store_context&, door, time_point give_up_at, alarm& wake,
                             std::function<bool()> given_up);

} // namespace holdfast::mysql
