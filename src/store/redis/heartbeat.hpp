// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/client_cards.hpp"

#include <holdfast/store.hpp>

#include <atomic>
#include <memory>
#include <string>

namespace holdfast::redis {

/// Writes to the server who this client is, while the client holds locks there.
///
/// It has no timer of its own. Each grant and each renewal calls beat(). If a write is due, the
/// client's key is written again, beside the requests about locks and never before them. So an idle
/// client writes nothing, and a key that is not written again expires. An error here never makes a
/// lock fail.
class heartbeat : public std::enable_shared_from_this<heartbeat> {
public:
    /// `server`, and all objects that `context` refers to, must live until stop().
    heartbeat(node& server, store_context context);

    /// Notes that the server granted or renewed a lock with this lease at `now`. Costs two
    /// comparisons if no write is due. Thread-safe.
    void beat(duration lease, time_point now);

    /// Deletes the key, and waits a short time for the server's answer.
    asio::awaitable<void> end();

    /// After this call, the server is not used any more.
    void stop() noexcept { server_ = nullptr; }

private:
    static asio::awaitable<void> write(std::shared_ptr<heartbeat>, duration kept);
    void start_writing(duration kept);
    void note(const boost::system::system_error&);

    node* server_;
    const store_context context_;
    const std::string key_;
    const client_card card_;
    std::atomic<duration::rep> kept_ = 0; ///< TTL of the last write in ms; 0: never written
    std::atomic<duration::rep> due_at_ = 0;
    alarm* ended_ = nullptr; ///< alarm of the caller that waits in end()
    bool denied_ = false;
};

} // namespace holdfast::redis
