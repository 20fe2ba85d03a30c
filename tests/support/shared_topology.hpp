// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"

#include <memory>
#include <stdexcept>

namespace holdfast::support {

/// Returns a topology that several tests share, because making its servers takes seconds. Restores
/// an existing topology, or makes a new topology if there is none. Also makes a new topology if the
/// old servers cannot be restored.
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
