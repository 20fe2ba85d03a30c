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

/// Finds the primary by asking its Sentinels, and stores its address in `node_context::where`. The
/// Sentinels are asked when a connection is first needed. After that they are asked often during
/// trouble, and periodically without trouble. They are also asked when one of two subscribed
/// Sentinels announces a switch.
class sentinel_watch : public std::enable_shared_from_this<sentinel_watch> {
public:
    /// `moved` is called on the executor when the primary has changed. Its argument names the
    /// source of this information.
    using on_move = std::function<void(const std::string& told_by)>;
    sentinel_watch(std::shared_ptr<node_context>, on_move);

    /// Callbacks; see `node_context`.
    asio::awaitable<void> find(time_point limit);
    void in_trouble();

    void close();

private:
    /// Time for which trouble lasts after it was last reported.
    static constexpr duration trouble_lasts = std::chrono::seconds{1};
    /// Time between two rounds of questions during trouble, with jitter.
    static constexpr duration hurried_min{100};
    static constexpr duration hurried_max{250};
    /// Time between two rounds of questions without trouble.
    static constexpr duration unhurried = std::chrono::seconds{10};
    /// Longest wait for the other Sentinels after more than half have replied. A later reply is
    /// evaluated when it arrives.
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
        std::size_t judged = 0; ///< number of replies and failures at the last evaluation
    };
    std::vector<round> rounds_; // rounds in which the reply of some Sentinel is missing
    std::vector<std::shared_ptr<sentinel_ear>> ears_;
    std::set<alarm*> finders_;
    std::string silence_ = "no Sentinel has answered yet"; // reason why `where` is not known
    bool unknown_service_ = false; // no Sentinel with a reply knows the service
    bool running_ = false;
    time_point trouble_until_ = time_point::min();
    bool closed_ = false;
};

} // namespace holdfast::redis
