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

/// Where to connect, and as who.
struct door {
    server_address where{};
    std::string unix_socket{}; ///< then `where` is not used
    std::string schema{};
    credentials who{};
    std::optional<tls_options> tls{};
    std::string server_key_file{};
    std::string label{}; ///< for people: who is connected
    duration limit{};    ///< of connecting; the library counts whole seconds
};

/// A connection that is logged in, and whose socket is non-blocking and closed on exec. Throws
/// `failure`: what `classify_connecting` says; unreachable at `give_up_at`, or when `given_up`,
/// which is asked whenever `wake` rings.
///
/// libmariadb's own non-blocking connect stands still, and with it the executor, in the look-up and
/// in TLS' handshake, without end if the server falls silent there. So another thread connects. It
/// cannot be stopped: it is left alone with what comes of it, and ends by the library's limits.
asio::awaitable<handle> dial(const store_context&, door, time_point give_up_at, alarm& wake,
                             std::function<bool()> given_up);

} // namespace holdfast::mysql
