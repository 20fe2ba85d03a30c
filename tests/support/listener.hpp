// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_connection.hpp"

#include <string>
#include <vector>

namespace holdfast::support {

struct message {
    std::string channel;
    std::string payload;
    bool operator==(const message&) const = default;
};

/// Subscriber that collects published messages without sleeping. A server replies in order, so a
/// message that was published before a request of ours arrives before its reply.
class listener {
public:
    explicit listener(const std::string& socket_path)
        : connection_{socket_path} {}

    /// Subscribes. Returns when the server has confirmed it.
    void subscribe(const std::string& channel) { ask({"SUBSCRIBE", channel}, "subscribe"); }
    void subscribe_to_all() { ask({"PSUBSCRIBE", "*"}, "psubscribe"); }

    /// Returns all messages that were published until now and not taken yet.
    std::vector<message> take();

private:
    void ask(const std::vector<std::string>& words, const std::string& answered_with);
    bool is_message(const redis::reply&);

    redis_connection connection_;
    std::vector<message> heard_;
};

} // namespace holdfast::support
