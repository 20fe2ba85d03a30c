// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/client_cards.hpp"

#include <holdfast/store.hpp>

#include <atomic>
#include <memory>
#include <string>

namespace holdfast::redis {

/// Says on the server who this client is, while it holds locks there.
///
/// It has no timer of its own: each grant and each renewal is a beat, and a beat that is due has
/// the client's key written anew, beside the locks' requests and not before them. So a client that
/// does nothing writes nothing, and a key that is not written any more goes by itself. No lock ever
/// fails for it.
class heartbeat : public std::enable_shared_from_this<heartbeat> {
public:
    /// `server`, and what `context` names, must live until stop().
    heartbeat(node& server, store_context context);

    /// A lock of that lease is held, said the server at `now`. Two comparisons, where none is due.
    /// Thread safety: any thread.
    void beat(duration lease, time_point now);

    /// Has the key taken away, and waits for that a little.
    asio::awaitable<void> end();

    /// Afterwards it touches nothing any more.
    void stop() noexcept { server_ = nullptr; }

private:
    static asio::awaitable<void> write(std::shared_ptr<heartbeat>, duration kept);
    void start_writing(duration kept);
    void note(const boost::system::system_error&);

    node* server_;
    const store_context context_;
    const std::string key_;
    const client_card card_;
    std::atomic<duration::rep> kept_ = 0; ///< how long, when it was last written; 0: never
    std::atomic<duration::rep> due_at_ = 0;
    alarm* ended_ = nullptr; ///< who waits for the end
    bool denied_ = false;
};

} // namespace holdfast::redis
