// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"

#include <memory>

namespace holdfast::redis {

class ear;
class lanes;
class mouths;

/// Finds connections that have died without notice. When a reply on a connection is missing for
/// part of `command_timeout`, the class asks the server over a new connection. If the server
/// replies there, the old connection gets a short grace period. If the reply is still missing after
/// it, the old connection is ended. Its requests end as outcome_unknown and wait no longer.
///
/// The question is a script. A server that has paused writes (CLIENT PAUSE, a failover) does not
/// reply to a script, so no connection is ended during the pause.
class liveness : public std::enable_shared_from_this<liveness> {
public:
    liveness(std::shared_ptr<node_context>, std::shared_ptr<mouths>, std::shared_ptr<lanes>,
             std::shared_ptr<ear>);

    /// Starts a check, unless a check is running. Call it when a reply on a connection is missing.
    void look();

    void close() noexcept;

private:
    using self = std::shared_ptr<liveness>;
    static asio::awaitable<void> check(self);
    asio::awaitable<bool> answers_anew(time_point limit);
    void cut_silent(time_point since);

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<mouths> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
    const duration patience_; ///< timeout of the reply on the new connection
    const duration grace_;    ///< extra time for the old connection after that reply
    const std::unique_ptr<alarm> rest_;
    std::shared_ptr<connection> line_;          // the new connection
    time_point not_before_ = time_point::min(); // earliest time of the next check
    bool checks_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
