// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/inquiries.hpp"
#include "redis/node_context.hpp"
#include "redis/sentinel/sentinel_choice.hpp"
#include "redis/sentinel/sentinel_ear.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Knows which server is the primary, by the Sentinels that watch over it, and writes that into
/// `node_context::where`. They are asked when somebody first wants to connect, again and again
/// while there is trouble, now and then, and when one of two that are listened to tells of a
/// switch.
class sentinel_watch : public std::enable_shared_from_this<sentinel_watch> {
public:
    /// `moved` is called, on the executor, when the primary is another one than before, with the
    /// name of who said so.
    using on_move = std::function<void(const std::string& told_by)>;
    sentinel_watch(std::shared_ptr<node_context>, on_move);

    /// See `node_context`.
    asio::awaitable<void> find(time_point limit);
    void in_trouble();

    void close();

private:
    /// There is trouble for so long after it was last told.
    static constexpr duration trouble_lasts = std::chrono::seconds{1};
    /// Between two questions meanwhile, jittered.
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// Between two questions otherwise.
    static constexpr duration unhurried = std::chrono::seconds{10};
    /// How long the others are waited for when more than half have answered. An answer that comes
    /// later is judged when it comes.
    static constexpr duration settles_in{300};

    static constexpr std::size_t ears_max = 2;

    using self = std::shared_ptr<sentinel_watch>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> ask_all();
    asio::awaitable<void> rest();
    void judge_late(bool also_of_the_last);
    void judge(const inquiries&);
    void hear(const primary_switch&);
    void go_to(const server_address&, const std::string& told_by);
    void wake_finders();
    void begin();

    const std::shared_ptr<node_context> context_;
    const on_move moved_;
    const std::unique_ptr<alarm> wake_;
    sentinel_choice choice_;
    struct round {
        std::shared_ptr<inquiries> asked;
        std::size_t judged = 0; ///< after so many answers and failures
    };
    std::vector<round> rounds_; // of which some have not answered yet
    std::vector<std::shared_ptr<sentinel_ear>> ears_;
    std::set<alarm*> finders_;
    std::string silence_ = "no Sentinel has answered yet"; // why `where` is not known
    bool unknown_service_ = false;                         // all that answered said so
    bool running_ = false;
    time_point trouble_until_ = time_point::min();
    bool closed_ = false;
};

} // namespace holdfast::redis
