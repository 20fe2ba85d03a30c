// SPDX-License-Identifier: Apache-2.0
// Connections to a Redis server without holdfast: they send commands, receive published messages,
// and run the library's scripts.
#pragma once

#include "redis/client/resp.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::support {

// Blocking connection for tests, as any other program would use it.

/// Exception: the server closed the connection.
struct connection_closed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class redis_connection {
public:
    /// Connects. Throws `std::runtime_error` if no server answers. `password` is the password of
    /// the default user.
    explicit redis_connection(const std::string& socket_path, const std::string& password = {});

    /// Sends a command and returns the reply, which may be an error reply (`reply::kind::error`).
    /// Throws `connection_closed`, or `std::runtime_error` after ten seconds without a reply.
    redis::reply command(const std::vector<std::string>& words);

    /// Sends a command, and returns when the server has begun to run it. So the server runs later
    /// requests of other clients after this command.
    void begin(const std::vector<std::string>& words);

    /// Returns the next message of a subscription. Returns an empty result after the timeout.
    std::optional<redis::reply> next_message(duration timeout);

private:
    void append(const std::vector<std::string>& words);
    redis::reply receive();
    [[noreturn]] void fail() const;

    struct closer {
        void operator()(redisContext*) const noexcept;
    };
    std::unique_ptr<redisContext, closer> context_;
};

struct message {
    std::string channel;
    std::string payload;
    bool operator==(const message&) const = default;
};

/// Subscriber that gets all messages published so far, without waiting for a time. It sends a
/// request and reads until the reply: messages that were published before the request arrive before
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

// Runs the library's scripts on a plain connection, for tests of the scripts alone.

/// Runs a script by sending EVAL with its whole text. `Connection` is a `redis_connection` or a
/// `redis_server`.
template <typename Connection>
redis::reply run_script(Connection& at, const redis::script& what, std::vector<std::string> keys,
                        std::vector<std::string> arguments) {
    std::vector<std::string> words{"EVAL", std::string{what.text}, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return at.command(words);
}

/// Returns the integers in a reply, and skips all other items. Returns an empty list for an error.
inline std::vector<std::int64_t> integers_of(const redis::reply& answer) {
    std::vector<std::int64_t> all;
    for (const redis::reply& each : answer.items)
        if (each.type == redis::reply::kind::integer)
            all.push_back(each.integer);
    return all;
}

} // namespace holdfast::support
