// SPDX-License-Identifier: Apache-2.0
// A request with all its details. A user's fault function gets only the base class `request`.
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/memory/server.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::memory {

/// Request that the memory store sends, with the details that are not public.
struct sent_request : request {
    /// True if another connection is used, because one connection gave no reply.
    bool elsewhere = false;
    const counter_ask* counted = nullptr;    ///< set for `count`, and for a `release` after it
    const counter_change* changed = nullptr; ///< set for `change`
    std::uint8_t replicas = 0;               ///< replicas that must confirm the write
    /// Time of the server's clock after which the server refuses an attempt to take a lock. Empty:
    /// the server's clock is still unknown.
    std::optional<std::chrono::microseconds> deadline{};
};

/// Returns all details of a request that a fault function got. Tests call it. Every request that
/// the memory store passes to a fault function is a `sent_request`.
inline const sent_request& details_of(const request& got) {
    return static_cast<const sent_request&>(got);
}

} // namespace holdfast::memory
