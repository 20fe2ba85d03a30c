// SPDX-License-Identifier: Apache-2.0
// A plain blocking connection for tests: what any other program on the same server would use.
#pragma once

#include "redis/wire/reply.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::support {

/// The server has closed it: nothing is answered any more.
struct connection_closed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class redis_connection {
public:
    /// Throws `std::runtime_error` if nobody answers there. A password is that of the default user.
    explicit redis_connection(const std::string& socket_path, const std::string& password = {});

    /// An error of the server is an answer too (`reply::kind::error`). Throws
    /// `connection_closed`, or `std::runtime_error` if the answer takes more than ten seconds.
    redis::reply command(const std::vector<std::string>& words);

    /// Without waiting for the answer, but until the server has begun with it: what others ask from
    /// now on comes behind it.
    void begin(const std::vector<std::string>& words);

    /// The next message of a subscription, if it comes in time.
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
