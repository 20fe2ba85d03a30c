// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::redis {

/// Meaning of an error reply in a cluster: where to send the request next, and whether the server
/// has carried it out.
struct redirection {
    enum class kind : std::uint8_t {
        none,     ///< the error does not concern the choice of the server
        moved,    ///< another server owns the slot
        ask,      ///< the slot is being migrated, and its new server must be asked for this key
        pause,    ///< no server serves the slot at the moment
        demoted,  ///< the server has become a replica
        not_here, ///< a script used an undeclared key, which is not at this server
        unknown_script, ///< the same server needs the text of the script
    };
    enum class outcome : std::uint8_t { not_carried_out, carried_out, unknown };

    kind what = kind::none;
    outcome done = outcome::not_carried_out; ///< has no meaning if `what` is `none`

    // Slot and target of `moved` and `ask`.
    std::uint16_t slot = 0;
    server_address to{};

    bool refresh = false;     ///< the slot map must be asked for again
    bool pause_first = false; ///< a pause of 50 to 250 ms is needed before the next attempt
    bool cut = false;         ///< connections to this server are of no more use for locks
};

/// Reads an error reply. `asked` is the host that replied, and the target if the redirection names
/// no host. A MOVED or ASK error with a malformed rest counts as `pause`, because the server
/// carried nothing out.
redirection read_redirection(std::string_view error, std::string_view asked);

} // namespace holdfast::redis
