// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Meaning of an error reply in a cluster: where to send the request next, and whether the server
/// has carried out the request.
struct redirection {
    enum class kind : std::uint8_t {
        none,           ///< the error has nothing to do with the choice of the server
        moved,          ///< another server owns the slot
        ask,            ///< the slot is being migrated; ask its new server for this key
        pause,          ///< no server serves the slot now
        demoted,        ///< the server has become a replica
        not_here,       ///< a script used an undeclared key that this server does not have
        unknown_script, ///< the same server needs the text of the script (EVAL)
    };
    enum class outcome : std::uint8_t { not_carried_out, carried_out, unknown };

    kind what = kind::none;
    outcome done = outcome::not_carried_out; ///< meaningless if `what` is `none`

    // Slot and target of `moved` and `ask`.
    std::uint16_t slot = 0;
    server_address to{};

    bool refresh = false;     ///< request a new slot map
    bool pause_first = false; ///< pause for 50 to 250 ms before the next attempt
    bool cut = false;         ///< close the connections: the server cannot serve locks
};

/// Reads an error reply. `asked` is the host that replied; it is also the target if the redirection
/// names no host. A malformed MOVED or ASK error counts as `pause`, because the server did not
/// carry out the request.
redirection read_redirection(std::string_view error, std::string_view asked);

} // namespace holdfast::redis
