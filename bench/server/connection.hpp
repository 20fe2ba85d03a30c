// SPDX-License-Identifier: Apache-2.0
// Bare hiredis connection. The yardsticks and the server statistics use it.
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

/// Exception: the server sent an error reply.
struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws the connection's error, or `server_error` for an error reply.
void expect_answer(const redisContext&, const redisReply*);

/// Reads the reply to an earlier request. Requests and replies have the same order.
reply next_answer(const connection&);

reply ask(const connection&, const std::vector<std::string_view>& words);

/// Sends a request that is encoded in the server's protocol already. Reads the reply.
reply ask_composed(const connection&, std::string_view request);

} // namespace holdfast::bench
