// SPDX-License-Identifier: Apache-2.0
// Who was given the address of one server, and finds something else there, is told the URL to use.
#pragma once

#include "net/failure.hpp"
#include "redis/node_context.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>

#include <memory>
#include <string>

namespace holdfast::redis {

/// Why a request failed that was answered so by a node of a cluster, or by a Sentinel. Null: by
/// neither, or the options say that there is a cluster.
std::shared_ptr<const net::failure> misdirection(const node_context&, const reply& answer);

/// Whether it is a Sentinel that answers so to ROLE.
bool is_sentinel(const reply& role);

/// In words: the URL, with the first service that it told of.
std::string advice_at_sentinel(const options&, const reply* role = nullptr);

} // namespace holdfast::redis
