// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// What an error says of the place where something was asked, and not of what was asked.
struct redirection {
    enum class kind : std::uint8_t {
        none,     ///< nothing of the place
        moved,    ///< another server has the slot
        ask,      ///< the slot is moving; this one key is at its new server, or will be
        pause,    ///< nobody serves the slot at the moment
        demoted,  ///< the server is a replica by now
        not_here, ///< a script met a key without having declared it, which is not at this server
        unknown_script, ///< the text is to be sent, to the same server
    };
    enum class outcome : std::uint8_t { not_carried_out, carried_out, unknown };

    kind what = kind::none;
    outcome done = outcome::not_carried_out; ///< says nothing where it is `none`

    // Of `moved` and `ask`.
    std::uint16_t slot = 0;
    server_address to{};

    bool refresh = false;     ///< ask who has which slots
    bool pause_first = false; ///< 50 to 250 ms, before it is asked again
    bool cut = false;         ///< its connections are of no use for locks any more
};

/// `asked`: the host that answered, which is meant where a redirection names none. With MOVED and
/// ASK whose rest makes no sense, nothing was carried out either: as `pause`.
redirection read_redirection(std::string_view error, std::string_view asked);

} // namespace holdfast::redis
