// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"

#include <memory>
#include <stdexcept>

namespace holdfast::support {

/// The servers that several tests share, since to make them takes seconds: restored, or made if
/// there are none. Where a test has left more than can be put in order, the next one does not
/// suffer from it.
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
