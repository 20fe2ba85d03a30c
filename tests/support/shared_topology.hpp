// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"

#include <memory>
#include <stdexcept>

namespace holdfast::support {

/// Returns servers that several tests share, because making them takes seconds. The servers are
/// restored, or made if there are none. If a test has left them in a state that cannot be restored,
/// new ones are made.
template <typename Topology>
Topology& restored_or_new(std::unique_ptr<Topology>& kept, const server_binary& which,
                          const typename Topology::options& how) {
    try {
        if (kept) {
            kept->restore();
            return *kept;
        }
    } catch (const std::runtime_error&) {
        kept.reset();
    }
    kept = std::make_unique<Topology>(which, how);
    return *kept;
}

} // namespace holdfast::support
