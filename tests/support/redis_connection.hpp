// SPDX-License-Identifier: Apache-2.0
// Blocking connection for tests, as any other program would use it.
#pragma once

#include "redis/client/resp.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::support {

/// Exception: the server closed the connection.
struct connection_closed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class redis_connection {
public:
    /// Connects. Throws `std::runtime_error` if no server answers. `password` is the password of
    /// the default user.
    explicit redis_connection(const std::string& socket_path, const std::string& password = {});

    /// Sends a command and returns the reply. If the server reports an error, the reply has
    /// `reply::kind::error`. Throws `connection_closed`. Throws `std::runtime_error` if the reply
    /// takes more than ten seconds.
    redis::reply command(const std::vector<std::string>& words);

    /// Sends a command, and returns when the server has begun to run it. Does not wait for the
    /// reply. Later requests of other clients run after the command.
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

} // namespace holdfast::support
