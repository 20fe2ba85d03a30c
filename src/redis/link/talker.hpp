// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/link/introduction.hpp"
#include "redis/wire/reply.hpp"

#include <memory>
#include <string>

namespace holdfast::redis {

/// Whoever talks over a link: a mouth or an ear.
class talker {
public:
    virtual ~talker() = default;

    /// Whether a connection is worth making.
    virtual bool wants_to_talk() const = 0;

    /// The connection takes more now: append what there is to say, or nothing.
    virtual void speak(std::string& out) = 0;

    /// The next answer, free to be moved from. Throws `failure` if it makes no sense, which ends
    /// the connection.
    virtual void hear(reply&, time_point received_at) = 0;

    virtual void connected(const introduction&) = 0;
    virtual void connection_failed(const net::failure&) = 0; ///< it could not be made
    virtual void connection_lost(const net::failure&) = 0;   ///< it was there

    /// Loops hold this as long as they run.
    virtual std::shared_ptr<void> keep_alive() = 0;
};

} // namespace holdfast::redis
