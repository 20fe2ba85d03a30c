// SPDX-License-Identifier: Apache-2.0
// Bare hiredis connection for the yardsticks and the statistics of the servers.
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

/// Exception: error reply of the server.
struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws the error of the connection, or `server_error`.
void expect_answer(const redisContext&, const redisReply*);

/// Reads the reply to an earlier request.
reply next_answer(const connection&);

reply ask(const connection&, const std::vector<std::string_view>& words);

/// Sends a request that is already in the server's protocol, and reads the reply.
reply ask_composed(const connection&, std::string_view request);

} // namespace holdfast::bench
