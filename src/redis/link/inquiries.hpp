// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/link/inquiry.hpp"
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

/// Several servers are asked the same at once. Some may not answer, or late: `settled()` does not
/// wait for all. Thread safety: everything on the client's executor.
class inquiries : public std::enable_shared_from_this<inquiries> {
public:
    struct answer {
        server_address from;
        std::vector<reply> said;
    };
    struct failing {
        server_address from;
        std::string why; ///< for people, with the address
    };

    /// `words`: so many requests as there are to be `answers`. `wake` is rung at each of them,
    /// until end().
    inquiries(known_context, std::function<login()> who, std::string words, std::size_t answers,
              alarm& wake);

    /// By a connection for just that. A name that has several addresses stands for as many servers.
    void ask(const server_address&, const std::optional<tls_options>&, time_point limit);

    /// Likewise, of a server that is one for sure.
    void ask(target, time_point limit);

    /// In another way, which throws what it fails with.
    void ask_by(server_address, asio::awaitable<reply>);

    /// After how many answers the others are waited for only until `patience` is over.
    enum class enough : bool { one, most };

    /// Waits until all servers have answered or failed, until enough have answered and `patience`
    /// is over, until `limit`, or until `given_up`, which is asked when `wake` rings.
    asio::awaitable<void> settled(enough, duration patience, time_point limit,
                                  std::function<bool()> given_up);

    /// Who has not answered yet does not count.
    void end();

    std::size_t asked() const { return asked_; }
    std::size_t pending() const { return pending_; }
    const std::vector<answer>& answers() const { return answers_; }
    const std::vector<failing>& failures() const { return failures_; }
    std::string troubles() const; ///< of the others, in words; also of who has not answered yet

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
    alarm* wake_; // null: it has ended
    std::set<alarm*> looking_up_;
    std::set<std::shared_ptr<connection>> lines_;
    std::size_t asked_ = 0;
    std::size_t pending_ = 0;
    std::vector<answer> answers_;
    std::vector<failing> failures_;
};

} // namespace holdfast::redis
