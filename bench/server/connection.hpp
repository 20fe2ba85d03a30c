// SPDX-License-Identifier: Apache-2.0
// A bare hiredis connection: all that the yardsticks and the server's accounts need.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace holdfast::bench {

struct closes_connection {
    void operator()(redisContext* context) const { redisFree(context); }
};
using connection = std::unique_ptr<redisContext, closes_connection>;

struct frees_reply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using reply = std::unique_ptr<redisReply, frees_reply>;

/// What the server complains of.
struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws what went wrong with the connection, or `server_error`.
void expect_answer(const redisContext&, const redisReply*);

/// Of what was asked before.
reply next_answer(const connection&);

reply ask(const connection&, const std::vector<std::string_view>& words);

/// The same for a request that is already in the server's protocol.
reply ask_composed(const connection&, std::string_view request);

} // namespace holdfast::bench
