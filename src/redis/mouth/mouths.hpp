// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/mouth/mouth.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace holdfast::redis {

/// The shared connections for requests: one, one for each number of replicas that are to confirm
/// something, and a spare of each. A connection that owes an answer to a request that was given up
/// gets no new request: the spare takes it. It may have died without notice, which takes a while to
/// be found out (liveness.hpp), since a server may only be slow.
class mouths {
public:
    explicit mouths(std::shared_ptr<node_context>);

    /// The one for such a request.
    mouth& pick(const call_wishes&);

    /// Connects the first one, which notices when the server goes, if it is not.
    void stay_connected() { usual_.first->stay_connected(); }

    bool connected() const { return usual_.first->is_connected(); }

    server_identity identity() const { return usual_.first->identity(); }

    /// Ends all connections.
    void cut(const net::failure& why);
    void move(const net::failure& why); ///< likewise, and makes the next ones at once

    /// Ends those that owe an answer since then or longer; returns whether there were any.
    bool cut_silent(time_point since, const net::failure& why);

    /// Asks over each whether the server still hears it.
    void ask_if_there();

    /// Ends those that may lead to another server than the first one; the next ones are made at
    /// once.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection by which that answer came, if it is one of these.
    void distrust(const reply&, const net::failure& why);

    void close();
    void retire(const std::string& why); ///< likewise, but the client goes on

private:
    struct pair {
        std::shared_ptr<mouth> first;
        std::shared_ptr<mouth> spare{}; ///< null: was never wanted
    };
    pair& pair_for(const call_wishes&);
    void for_each(const std::function<void(mouth&)>&);

    const std::shared_ptr<node_context> context_;
    pair usual_;
    std::map<std::uint8_t, pair> confirming_; // by how many replicas
    bool closed_ = false;
    std::string retired_; // why
};

} // namespace holdfast::redis
