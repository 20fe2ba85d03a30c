// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/session_term.hpp"
#include "zookeeper/wire/messages.hpp"

#include <cstdint>
#include <string>

namespace holdfast::zookeeper {

/// Data of a session that the client needs to resume the session at another server.
struct known_session {
    std::int64_t id = 0; ///< zero: no session
    std::string password{};
    duration timeout{};
    std::int64_t last_zxid = 0;
    session_term term{};
    time_point last_sent{}; ///< time at which the newest request was sent

    bool exists() const { return id != 0; }

    void opened(const welcome&, time_point sent_at);
    void resumed(const welcome&, time_point sent_at);
    void saw(std::int64_t zxid);

    /// Returns the greeting for a server. It resumes the session, or opens a session with the
    /// timeout `wanted`.
    greeting to_greet(duration wanted) const;

    /// Returns whether the session has surely ended: the client has sent nothing for two timeouts.
    bool is_long_gone(time_point now) const { return now - last_sent >= 2 * timeout; }
};

} // namespace holdfast::zookeeper
