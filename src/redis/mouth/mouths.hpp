// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/mouth/mouth.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace holdfast::redis {

/// Shared connections for requests: the command connection, and one connection for each number of
/// replicas that must confirm. Each of these has a spare connection. If a connection owes the reply
/// to a request that timed out, the spare takes the new requests. The connection may have died
/// without notice. Finding that out takes a while (liveness.hpp), because a server may only be
/// slow.
class mouths {
public:
    explicit mouths(std::shared_ptr<node_context>);

    /// Returns the connection for such a request.
    mouth& pick(const call_wishes&);

    /// Connects the command connection if necessary. That connection notices when the server goes
    /// away.
    void stay_connected() { usual_.first->stay_connected(); }

    bool connected() const { return usual_.first->is_connected(); }

    server_identity identity() const { return usual_.first->identity(); }

    /// Ends all connections.
    void cut(const net::failure& why);
    void move(const net::failure& why); ///< Ends all connections and makes the next ones at once.

    /// Ends the connections that owe a reply since `since` or longer. Returns whether there were
    /// any.
    bool cut_silent(time_point since, const net::failure& why);

    /// Tests each connection with a PING or ROLE.
    void ask_if_there();

    /// Ends the connections that may lead to another server than the command connection. The next
    /// ones are made at once.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection that gave this reply, if it is one of these.
    void distrust(const reply&, const net::failure& why);

    void close();
    void retire(const std::string& why); ///< Ends all connections; the client itself goes on.

private:
    struct pair {
        std::shared_ptr<mouth> first;
        std::shared_ptr<mouth> spare{}; ///< null: never needed
    };
    pair& pair_for(const call_wishes&);
    void for_each(const std::function<void(mouth&)>&);

    const std::shared_ptr<node_context> context_;
    pair usual_;
    std::map<std::uint8_t, pair> confirming_; // by number of replicas
    bool closed_ = false;
    std::string retired_; // reason, if retire() was called
};

} // namespace holdfast::redis
