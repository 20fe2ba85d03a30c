// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/link/introduction.hpp"
#include "redis/wire/reply.hpp"

#include <memory>
#include <string>

namespace holdfast::redis {

/// User of a `link`: the command connection (`mouth`) or the subscriber connection (`ear`).
class talker {
public:
    virtual ~talker() = default;

    /// Returns whether a connection is needed.
    virtual bool wants_to_talk() const = 0;

    /// Appends the requests to send. Called when the connection can send more.
    virtual void speak(std::string& out) = 0;

    /// Processes the next reply, and may move from it. Throws `failure` if the reply makes no
    /// sense; the connection is then ended.
    virtual void hear(reply&, time_point received_at) = 0;

    virtual void connected(const introduction&) = 0;
    virtual void connection_failed(const net::failure&) = 0; ///< no connection could be made
    virtual void connection_lost(const net::failure&) = 0;   ///< an open connection has ended

    /// Returns the object that the link's coroutines keep alive while they run.
    virtual std::shared_ptr<void> keep_alive() = 0;
};

} // namespace holdfast::redis
