// SPDX-License-Identifier: Apache-2.0
// Error messages for a URL of the wrong kind: it names one server, but a Sentinel or a cluster node
// replies there. The messages contain the URL to use.
#pragma once

#include "net/failure.hpp"
#include "redis/node_context.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>
#include <string>

namespace holdfast::redis {

/// Returns the failure for an error that only a cluster node or a Sentinel sends. Returns null for
/// any other reply, or if the options name a cluster.
std::shared_ptr<const net::failure> misdirection(const node_context&, const reply& answer);

/// Returns whether this reply to ROLE comes from a Sentinel.
bool is_sentinel(const reply& role);

/// Returns advice that contains the URL of a Sentinel service. `role` is the reply to ROLE, which
/// lists the services. The URL contains the first service of the list.
std::string advice_at_sentinel(const options&, const reply* role = nullptr);

} // namespace holdfast::redis
