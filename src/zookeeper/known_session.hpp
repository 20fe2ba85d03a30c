// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zookeeper/session_term.hpp"
#include "zookeeper/wire/messages.hpp"

#include <cstdint>
#include <string>

namespace holdfast::zookeeper {

/// What is known of a session, with which it can be resumed elsewhere.
struct known_session {
    std::int64_t id = 0; ///< zero: there is none
    std::string password{};
    duration timeout{};
    std::int64_t last_zxid = 0;
    session_term term{};
    time_point last_sent{}; ///< a request, the newest

    bool exists() const { return id != 0; }

    void opened(const welcome&, time_point sent_at);
    void resumed(const welcome&, time_point sent_at);
    void saw(std::int64_t zxid);

    /// What to say to resume it, or to open one that lasts so long.
    greeting to_greet(duration wanted) const;

    /// Nobody but us can know better: no server can have heard of it for two timeouts.
    bool is_long_gone(time_point now) const { return now - last_sent >= 2 * timeout; }
};

} // namespace holdfast::zookeeper
