// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/client_cards.hpp"

#include <holdfast/store.hpp>

#include <atomic>
#include <memory>
#include <string>

namespace holdfast::redis {

/// Writes a description of this client to the server, while the client holds locks there.
///
/// The class has no timer. Each grant and each renewal calls beat(). If a write is due, the
/// client's key is written again. The write runs at the same time as requests about locks, and
/// never delays them. An idle client therefore writes nothing, and its key expires. An error of a
/// write never makes a lock fail.
class heartbeat : public std::enable_shared_from_this<heartbeat> {
public:
    /// `server`, and all objects that `context` refers to, must live until stop().
    heartbeat(node& server, store_context context);

    /// Records that the server granted or renewed a lock with this lease at `now`. Costs two
    /// comparisons if no write is due. Thread-safe.
    void beat(duration lease, time_point now);

    /// Deletes the key, and waits a short time for the server's reply.
    asio::awaitable<void> end();

    /// Stops all use of the server.
    void stop() noexcept { server_ = nullptr; }

private:
    static asio::awaitable<void> write(std::shared_ptr<heartbeat>, duration kept);
    void start_writing(duration kept);
    void note(const boost::system::system_error&);

    node* server_;
    const store_context context_;
    const std::string key_;
    const client_card card_;
    std::atomic<duration::rep> kept_ = 0; ///< TTL of the last write in ms; 0 if never written
    std::atomic<duration::rep> due_at_ = 0;
    alarm* ended_ = nullptr; ///< alarm of the caller that waits in end()
    bool denied_ = false;
};

} // namespace holdfast::redis
