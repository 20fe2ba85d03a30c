// SPDX-License-Identifier: Apache-2.0
// Blocking connection for tests, as any other program would use it.
#pragma once

#include "redis/wire/reply.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::support {

/// Exception: the server has closed the connection.
struct connection_closed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class redis_connection {
public:
    /// Connects. Throws `std::runtime_error` if no server answers. `password` is that of the
    /// default user.
    explicit redis_connection(const std::string& socket_path, const std::string& password = {});

    /// Sends a command and returns its reply. An error of the server is a reply too
    /// (`reply::kind::error`). Throws `connection_closed`, or `std::runtime_error` if the reply
    /// takes more than ten seconds.
    redis::reply command(const std::vector<std::string>& words);

    /// Sends a command and returns when the server has begun to run it, without its reply. Later
    /// requests of other clients run after it.
    void begin(const std::vector<std::string>& words);

    /// Returns the next message of a subscription, or nothing after the timeout.
    std::optional<redis::reply> next_message(duration patience);

private:
    void append(const std::vector<std::string>& words);
    redis::reply receive();
    [[noreturn]] void fail() const;

    struct closer {
        void operator()(redisContext*) const noexcept;
    };
    std::unique_ptr<redisContext, closer> context_;
};

} // namespace holdfast::support
