// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/backoff.hpp"
#include "redis/lanes/lane.hpp"
#include "redis/suspicion.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Pool of the connections for blocking calls (`lane`) to one server. Lanes are made in the
/// background when they are wanted, and closed when they are idle. A lane is lent to one call at a
/// time. A call never waits for a lane; if none is free, it uses the shared connection.
class lanes : public std::enable_shared_from_this<lanes> {
public:
    explicit lanes(std::shared_ptr<node_context>);

    /// Borrowed connection (`lane`), which the destructor returns to the pool. It is empty if no
    /// lane is free.
    class loan {
    public:
        explicit loan(lanes& all)
            : all_{all}
            , lent_{all.borrow()} {}
        loan(const loan&) = delete;
        ~loan() {
            if (lent_)
                all_.give_back(*lent_);
        }
        explicit operator bool() const noexcept { return lent_ != nullptr; }
        lane* operator->() const noexcept { return lent_; }

    private:
        lanes& all_;
        lane* const lent_;
    };

    /// Starts to read owed replies in the background, because no call may come to read them.
    void collect_soon();

    /// Closes all lanes, each as soon as no call uses it. Calls under way still get their replies.
    void cut(const net::failure& why);

    /// Ends all lanes and the calls on them at once.
    void move(const net::failure& why);

    /// Ends the lanes that owe a reply since `since` or longer, with the calls on them. Returns
    /// whether there were any. Lanes that wait for replicas stay, because such a reply may take
    /// long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Ends the lanes that may lead to another server, with the calls on them.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the lane that gave this reply, with the call on it. Does nothing if no lane gave it.
    void distrust(const reply&);

    /// Ends all calls and closes all lanes.
    void close();

private:
    /// Number of calls without a free lane before a lane is made. A program that locks once or
    /// twice needs no second connection.
    static constexpr unsigned wishes_min = 4;
    static constexpr duration idle_max = std::chrono::seconds{10};
    /// Interval at which owed replies are read.
    static constexpr duration collect_period{1};

    struct entry {
        std::unique_ptr<lane> line;
        time_point used_at;
        std::string run_id; ///< run_id of its server; empty: not told
        bool lent = false;
        bool leaves = false; ///< must not be used again
        time_point lent_at{};
    };

    void sweep_soon();
    lane* borrow();
    void give_back(const lane&);
    void wish_for_one_more();
    static asio::awaitable<void> open(std::shared_ptr<lanes>);
    static asio::awaitable<void> close_idle(std::shared_ptr<lanes>);
    static asio::awaitable<void> collect(std::shared_ptr<lanes>);
    bool any_owes() const;
    void suspect_soon();
    static asio::awaitable<void> suspect(std::shared_ptr<lanes>);
    std::optional<time_point> owed_since() const;

    const std::shared_ptr<node_context> context_;
    runtime::answer_wait wait_;
    suspicion suspicion_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> tidying_;
    const std::unique_ptr<alarm> collecting_;
    const std::unique_ptr<alarm> suspecting_;
    std::vector<entry> all_;
    std::shared_ptr<connection> opening_; // the lane that is being made
    unsigned wishes_ = 0;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to make a lane
    bool tidies_ = false;
    bool collects_ = false;
    bool suspects_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
