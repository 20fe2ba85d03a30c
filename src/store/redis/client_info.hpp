// SPDX-License-Identifier: Apache-2.0
// Descriptions of clients. Each client writes a key that describes itself (host, process and so
// on), so that tools can show who holds a lock (docs/protocol/client.md). Only client_info.cpp
// knows the keys and the arguments of the scripts that read and write descriptions.
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

/// Returns the key that describes the owner's client. The result is empty if the owner's UUID is
/// not from a holdfast client.
std::optional<std::string> client_key(std::string_view owner);
std::string client_key(const std::array<std::uint8_t, 16>& client);

/// Content of a client's key: the description of the client, and its holds and waiting calls.
struct client_report {
    client_info info;
    client_activity activity{};
    time_point now{}; ///< time of `activity`
    /// Name of the client in the index, which lists all clients that have holds or waiting calls.
    /// If the name is empty, the index stays unchanged.
    std::string name_in_index{};
};

/// Writes the client's description under `key`, with the TTL `kept`. If `kept` is zero, deletes the
/// key instead. If `name_in_index` is set, adds the client to the index when the report lists a
/// hold or a wait, and otherwise removes the client from the index. Returns the error text if the
/// index could not be written, otherwise an empty text.
asio::awaitable<std::string> announce_client(node&, std::string key, client_report, duration kept);

/// A hold that a client has reported.
struct seen_hold {
    std::string name, kind, number;
    std::optional<duration> since, age; ///< grant (server's clock, since 1970), and time since then
};

/// A waiting call that a client has reported.
struct seen_wait {
    std::string name, kind;
    std::optional<duration> since, age; ///< start (server's clock, since 1970), and time since then
    std::optional<duration> timeout_left;
};

/// Report of a client, as the server returned it.
struct seen_client {
    std::string uuid{};
    client_info info{};
    std::vector<seen_hold> holds{};
    std::vector<seen_wait> waits{};
    bool complete = true; ///< false: the client has more holds or waits than it lists
};

/// Reads the descriptions of clients. The result has one entry for each key, in the same order. An
/// entry is empty if the client has written no description, or if the server of the key could not
/// be asked.
asio::awaitable<std::vector<std::optional<client_info>>> read_clients(node&,
                                                                      std::vector<std::string>);

/// Reports of all clients that have holds or waiting calls.
struct active_clients {
    std::vector<seen_client> clients{};
    /// False: there were too many clients, a client does not list all its holds and waits, or a
    /// server could not be asked.
    bool complete = true;
    std::size_t requests = 0; ///< number of requests that were sent
};

/// Reads the reports of all clients in the index. If `name` is not empty, returns only the holds
/// and waits of the lock with this name, and only clients that list this name.
asio::awaitable<active_clients> read_active_clients(node&, std::string_view name = {});

/// Writes a description of this client to the server, while the client holds locks there.
///
/// Each grant and each renewal calls refresh(), which writes the client's key again if a write is
/// due. The write runs at the same time as requests about locks, and never delays them. If the
/// write fails, the locks are not affected.
///
/// A loop runs while the client has a hold or a waiting call. Once a second, it writes the key
/// again if the list of holds and waits has changed. The list has only holds and waits that are
/// older than a second, so shorter ones cause no write. A client with waits in the list also writes
/// the key again every 10 s. A client without holds and waits has no loop, and its key expires.
class presence_refresh : public std::enable_shared_from_this<presence_refresh> {
public:
    /// The argument `server`, and all objects that `context` refers to, must live until stop() is
    /// called.
    presence_refresh(node& server, store_context context);

    /// Records that the server granted or renewed a lock with this lease time at `now`. Starts a
    /// write of the description if one is due. Thread-safe.
    void refresh(duration lease, time_point now);

    /// Starts the loop that writes the list of holds and waits, unless the loop runs already. Call
    /// this function for each request for a lock. Thread-safe.
    void follow();

    /// Deletes this client's key. Waits a short time for the server's reply.
    asio::awaitable<void> end();

    /// After this call, the object sends nothing more to the server.
    void stop() noexcept;

private:
    /// Which write it is. The loop repeats a first write that the server executed late.
    enum class attempt_number { first, repeated };

    static asio::awaitable<void> write(std::shared_ptr<presence_refresh>, duration kept,
                                       attempt_number);
    static asio::awaitable<void> follow_changes(std::shared_ptr<presence_refresh>);
    bool write_changes();
    client_activity listed(time_point now) const;
    client_report make_report(duration kept);
    void start_writing(duration kept, attempt_number = attempt_number::first);
    void note(const boost::system::system_error&);
    void note_index(std::string_view refusal);
    void tell_impaired(std::string_view text);

    node* server_;
    const store_context context_;
    const std::string key_;
    const client_info info_;
    std::atomic<duration::rep> kept_ = 0; ///< TTL of the last write in ms; 0 if never written
    std::atomic<duration::rep> due_at_ = 0;
    alarm* ended_ = nullptr;     ///< alarm of the caller that waits in end()
    alarm* next_look_ = nullptr; ///< alarm of the loop in follow_changes()
    std::atomic<bool> following_ = false;
    std::atomic<bool> denied_ = false;
    bool ending_ = false;       ///< end() was called
    bool index_denied_ = false; ///< the user has no right to write the index
    bool is_indexed_ = false;   ///< true: the index may have an entry of this client
    time_point waits_due_at_{}; ///< when a client with waits writes its key again
    bool was_late_ = false;     ///< the times in the last write are wrong by its delay
    int failures_ = 0;          ///< number of writes that failed since the last success
    client_activity written_{}; ///< holds and waits in the last write
};

} // namespace holdfast::redis
