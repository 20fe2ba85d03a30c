// SPDX-License-Identifier: Apache-2.0
// A counter of our clients on the server. What they are remembered by stays there for a minute, and
// no turn may leave a key.
#pragma once

#include "bench/contenders/arena.hpp"
#include "store/redis/names.hpp"

#include <holdfast/client.hpp>

#include <chrono>
#include <thread>

namespace holdfast::bench {

inline const std::string counter_name = name_of_lock(0);

/// For as long as a turn lasts. Other clients count, too; this connection is for what is around it.
inline void begin_counting(connection& server, const std::string& value) {
    ask(server, {"SET", counter_name, value});
}

/// In the background, whoever was passed a permit while the server granted one gives that back.
constexpr auto settled_after = std::chrono::milliseconds{10};

inline void end_counting(connection& server, const client& who) {
    std::this_thread::sleep_for(settled_after);
    ask(server, {"DEL", counter_name,
                 redis::with_prefix("holdfast_requests", {counter_name}) + ':' + who.id()});
}

} // namespace holdfast::bench
