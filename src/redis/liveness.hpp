// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"

#include <memory>

namespace holdfast::redis {

class ear;
class lanes;
class mouths;

/// Finds connections that have died without notice. When a connection owes an answer for a part of
/// the usual time, the server is asked over a new connection. If it answers there, and the old
/// connection has still not answered after a short grace, the old one is cut: what waits there ends
/// as outcome_unknown, and is not waited for any longer.
///
/// The question is a script: a server that stands still for writes (CLIENT PAUSE, a failover) does
/// not answer it, and then nothing is cut.
class liveness : public std::enable_shared_from_this<liveness> {
public:
    liveness(std::shared_ptr<node_context>, std::shared_ptr<mouths>, std::shared_ptr<lanes>,
             std::shared_ptr<ear>);

    /// Call it when a connection owes an answer. Asks at most one question at a time.
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
    const duration patience_; ///< for the answer over a new connection
    const duration grace_;    ///< for the old one, when that has come
    const std::unique_ptr<alarm> rest_;
    std::shared_ptr<connection> line_;          // the new connection
    time_point not_before_ = time_point::min(); // the next question
    bool checks_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
