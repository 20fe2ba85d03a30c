// SPDX-License-Identifier: Apache-2.0
#include "redis/node.hpp"
#include "redis/topology/cluster_node.hpp"
#include "redis/topology/primary_node.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Longest pause between two attempts to connect if another server can take over (Sentinels, a
/// cluster).
constexpr duration backoff_most{250};

} // namespace

std::unique_ptr<node> make_node(options how, store_context home) {
    if (how.sentinel || how.cluster) {
        how.unix_socket.clear();
        how.backoff_max = std::min(how.backoff_max, std::max(how.backoff_min, backoff_most));
    }
    const bool in_cluster = how.cluster.has_value();
    auto known = std::make_shared<node_context>(std::move(how), std::move(home));
    if (in_cluster)
        return std::make_unique<cluster_node>(std::move(known));
    return std::make_unique<primary_node>(std::move(known));
}

} // namespace holdfast::redis
