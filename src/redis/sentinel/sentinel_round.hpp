// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/connection.hpp"
#include "redis/node_context.hpp"
#include "redis/sentinel/sentinel_words.hpp"

#include <holdfast/credentials.hpp>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace holdfast::redis {

using known_context = std::shared_ptr<const node_context>;
using target = std::shared_ptr<const destination>;

inline constexpr std::uint16_t sentinel_port = 26379; ///< unless another is given

/// What Sentinels are told of who asks: the servers' user and password, unless they have others.
credentials sentinel_login(const node_context&);

/// All Sentinels are asked at once where the primary is. Some may not answer, or late: who waits
/// decides for how long, and calls end().
class sentinel_round : public std::enable_shared_from_this<sentinel_round> {
public:
    /// `wake` is rung at each answer, until end().
    sentinel_round(known_context, alarm& wake);

    void begin(time_point limit);
    /// Who has not answered yet does not count.
    void end();

    bool all_told() const { return pending_ == 0; }
    std::size_t asked() const { return asked_; }
    const std::vector<sentinel_answer>& answers() const { return answers_; }
    std::string troubles() const; ///< of the others, in words

private:
    using self = std::shared_ptr<sentinel_round>;
    static asio::awaitable<void> ask_host(self, server_address, time_point limit);
    static asio::awaitable<void> ask(self, target, time_point limit);
    asio::awaitable<std::vector<target>> find(server_address);
    void told();
    void failed(const std::string& whom, const std::string& why);

    const known_context context_;
    alarm* wake_; // null: it has ended
    std::set<alarm*> looking_up_;
    std::set<std::shared_ptr<connection>> lines_;
    std::size_t asked_ = 0;
    std::size_t pending_ = 0;
    std::vector<sentinel_answer> answers_;
    std::vector<std::string> troubles_;
};

} // namespace holdfast::redis
