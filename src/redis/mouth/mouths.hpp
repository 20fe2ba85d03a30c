// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/mouth/mouth.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace holdfast::redis {

/// Shared connections for requests to one server. There is the command connection, and one
/// connection for each number of replicas that must confirm. Each connection can have a spare. If
/// the reply to a request that timed out is missing on a connection, the spare gets the new
/// requests, because the connection may have died without notice. A dead connection is found only
/// after a while (liveness.hpp), because the server may only be slow.
class mouths {
public:
    explicit mouths(std::shared_ptr<node_context>);

    /// Returns the connection for a request with these options.
    mouth& pick(const call_wishes&);

    /// Opens the command connection if necessary. The command connection notices the loss of the
    /// server.
    void stay_connected() { usual_.first->stay_connected(); }

    bool connected() const { return usual_.first->is_connected(); }

    server_identity identity() const { return usual_.first->identity(); }

    /// Ends all connections.
    void cut(const net::failure& why);
    void move(const net::failure& why); ///< Ends all connections and opens new ones at once.

    /// Ends the connections on which a reply has been missing since `since` or longer. Returns
    /// whether any connection was ended.
    bool cut_silent(time_point since, const net::failure& why);

    /// Tests each connection with a PING or ROLE.
    void ask_if_there();

    /// Ends the connections that may lead to another server than the command connection. Opens new
    /// connections at once.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection that brought this reply, if it is in this set.
    void distrust(const reply&, const net::failure& why);

    void close();
    /// Ends all connections for good, but does not close the client.
    void retire(const std::string& why);

private:
    struct pair {
        std::shared_ptr<mouth> first;
        std::shared_ptr<mouth> spare{}; ///< null if never needed
    };
    pair& pair_for(const call_wishes&);
    void for_each(const std::function<void(mouth&)>&);

    const std::shared_ptr<node_context> context_;
    pair usual_;
    std::map<std::uint8_t, pair> confirming_; // by number of replicas that must confirm
    bool closed_ = false;
    std::string retired_; // reason, if retire() was called
};

} // namespace holdfast::redis
