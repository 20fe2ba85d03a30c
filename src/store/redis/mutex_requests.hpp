// SPDX-License-Identifier: Apache-2.0
// The two requests of a plain lock. Nobody else names their scripts' keys and arguments.
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <chrono>
#include <optional>

namespace holdfast::redis {

enum class verdict { busy = 0, granted = 1, late = 2 };

/// What the server said to one request for a lock.
struct attempt {
    verdict said{};
    std::optional<duration> left;           ///< of the present hold; nothing: it has no end
    std::chrono::microseconds server_now{}; ///< zero: the server may not tell
    time_point sent_at{};
    time_point received_at{};
};

/// Granted to who holds it already, late if the server comes to it after `deadline`. Arguments
/// live until it has completed.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);

/// Whether the hold was still its owner's. As often as one likes.
asio::awaitable<bool> release_mutex(node&, hold);

} // namespace holdfast::redis
