// SPDX-License-Identifier: Apache-2.0
// Descriptions of clients. Each client writes a key about itself, so that tools can show who holds
// a lock (docs/protocol/client.md). Only client_info.cpp knows the keys and arguments of the
// scripts that read and write descriptions.
#pragma once

#include "redis/node.hpp"

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Returns the key with the description of the owner's client. The result is empty if the owner's
/// UUID lacks the mark of holdfast clients.
std::optional<std::string> client_key(std::string_view owner);
std::string client_key(const std::array<std::uint8_t, 16>& client);

/// Writes the client's description with the TTL `kept`. If `kept` is zero, deletes its key instead.
asio::awaitable<void> announce_client(node&, std::string key, client_info, duration kept);

/// Reads descriptions, in the order of the keys. An entry is empty if the client has written no
/// description, or if its server could not be asked.
asio::awaitable<std::vector<std::optional<client_info>>> read_clients(node&,
                                                                      std::vector<std::string>);

/// Writes a description of this client to the server, while the client holds locks there.
///
/// The class has no timer. Each grant and each renewal calls refresh(). If a write is due, the
/// client's key is written again. The write runs at the same time as requests about locks, and
/// never delays them. An idle client therefore writes nothing, and its key expires. An error of a
/// write never makes a lock fail.
class presence_refresh : public std::enable_shared_from_this<presence_refresh> {
public:
    /// `server`, and all objects that `context` refers to, must live until stop() is called.
    presence_refresh(node& server, store_context context);

    /// Records that the server granted or renewed a lock with this lease at `now`. If no write is
    /// due, the call costs only two comparisons. Thread-safe.
    void refresh(duration lease, time_point now);

    /// Deletes this client's key. Waits a short time for the server's reply.
    asio::awaitable<void> end();

    /// After this call, the object sends nothing more to the server.
    void stop() noexcept { server_ = nullptr; }

private:
    static asio::awaitable<void> write(std::shared_ptr<presence_refresh>, duration kept);
    void start_writing(duration kept);
    void note(const boost::system::system_error&);

    node* server_;
    const store_context context_;
    const std::string key_;
    const client_info info_;
    std::atomic<duration::rep> kept_ = 0; ///< TTL of the last write in ms; 0 if never written
    std::atomic<duration::rep> due_at_ = 0;
    alarm* ended_ = nullptr; ///< alarm of the caller that waits in end()
    bool denied_ = false;
};

} // namespace holdfast::redis
