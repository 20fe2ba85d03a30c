// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/client/connection.hpp"
#include "redis/node_context.hpp"

#include <holdfast/credentials.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::redis {

using known_context = std::shared_ptr<const node_context>;
using target = std::shared_ptr<const destination>;

/// Group of servers that are asked the same questions at the same time. Some servers may reply late
/// or never, so settled() does not wait for all of them. Thread safety: use it only on the client's
/// executor.
class inquiries : public std::enable_shared_from_this<inquiries> {
public:
    struct answer {
        server_address from;
        std::vector<reply> said;
    };
    struct failing {
        server_address from;
        std::string why; ///< error message, with the address of the server
    };

    /// Creates the group. `words` has the requests, and `answers` is their number. The alarm `wake`
    /// rings at each reply and each failure, until end() is called.
    inquiries(known_context, std::function<login()> who, std::string words, std::size_t answers,
              alarm& wake);

    /// Asks a server over a new connection. If the server's name has several addresses, asks at
    /// each address. Each address counts as one server.
    void ask(const server_address&, const std::optional<tls_options>&, time_point limit);

    /// Asks a server over a new connection to a given address.
    void ask(target, time_point limit);

    /// Asks a server by means of an awaitable, which returns the server's reply or throws.
    void ask_by(server_address, asio::awaitable<reply>);

    /// How many replies are enough: `one`, or `most` (replies from more than half of the servers).
    /// settled() waits until enough replies have come. After that, it waits for the other servers
    /// only until its timeout.
    enum class enough : bool { one, most };

    /// Waits until one of these conditions is true:
    /// - All servers have replied or failed.
    /// - Enough servers have replied, and `timeout` has passed since the call of settled().
    /// - The clock shows `limit`, whether or not enough servers have replied.
    /// - `given_up` returns true. It is called each time the alarm `wake` rings.
    asio::awaitable<void> settled(enough, duration timeout, time_point limit,
                                  std::function<bool()> given_up);

    /// Ends the questions, and ignores later replies.
    void end();

    std::size_t asked() const { return asked_; }
    std::size_t pending() const { return pending_; }
    const std::vector<answer>& answers() const { return answers_; }
    const std::vector<failing>& failures() const { return failures_; }
    std::string troubles() const; ///< errors of servers without a reply

private:
    using self = std::shared_ptr<inquiries>;
    using tls = std::optional<tls_options>;
    static asio::awaitable<void> ask_host(self, server_address, tls, time_point limit);
    static asio::awaitable<void> ask_one(self, server_address, target, time_point limit);
    static asio::awaitable<void> ask_otherwise(self, server_address, asio::awaitable<reply>);
    asio::awaitable<std::vector<target>> find(server_address, tls);
    void expect(std::size_t more);
    void told();
    void failed(server_address whom, std::string why);

    const known_context context_;
    const std::function<login()> who_;
    const std::string words_;
    const std::size_t each_;
    alarm* wake_; // null after end()
    std::set<alarm*> looking_up_;
    std::set<std::shared_ptr<connection>> lines_;
    std::size_t asked_ = 0;
    std::size_t pending_ = 0;
    std::vector<answer> answers_;
    std::vector<failing> failures_;
};

} // namespace holdfast::redis
