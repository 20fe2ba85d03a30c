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

/// Subscriber that collects published messages without sleeping. It sends a request and reads until
/// the reply. A server sends in order, so every message that was published earlier arrives before
/// the reply.
class listener {
public:
    explicit listener(const std::string& socket_path)
        : connection_{socket_path} {}

    /// Subscribes. Returns after the server has confirmed the subscription.
    void subscribe(const std::string& channel) { ask({"SUBSCRIBE", channel}, "subscribe"); }
    void subscribe_to_all() { ask({"PSUBSCRIBE", "*"}, "psubscribe"); }

    /// Returns the messages that were published since the last call.
    std::vector<message> take();

private:
    void ask(const std::vector<std::string>& words, const std::string& answered_with);
    bool is_message(const redis::reply&);

    redis_connection connection_;
    std::vector<message> heard_;
};

} // namespace holdfast::support
