// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace holdfast::zookeeper {

/// Node that a session of this client has made. The server deletes it when that session ends.
struct own_node {
    own_node(std::string p, std::int64_t s, std::int64_t z)
        : path{std::move(p)}
        , session{s}
        , czxid{z} {}
    bool operator==(const own_node&) const = default;
    std::string path;
    std::int64_t session;
    std::int64_t czxid;
};

} // namespace holdfast::zookeeper
