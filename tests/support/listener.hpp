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

/// Subscribes, and hears what was published. Without sleeping: a server sends in order, so what
/// was published before a question of ours comes before its answer.
class listener {
public:
    explicit listener(const std::string& socket_path)
        : connection_{socket_path} {}

    /// Returns when the server has confirmed it.
    void subscribe(const std::string& channel) { ask({"SUBSCRIBE", channel}, "subscribe"); }
    void subscribe_to_all() { ask({"PSUBSCRIBE", "*"}, "psubscribe"); }

    /// All that was published until now and not taken yet.
    std::vector<message> take();

private:
    void ask(const std::vector<std::string>& words, const std::string& answered_with);
    bool is_message(const redis::reply&);

    redis_connection connection_;
    std::vector<message> heard_;
};

} // namespace holdfast::support
