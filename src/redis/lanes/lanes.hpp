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

/// Pool of the connections for blocking calls (`lane`) to one server. Lanes are opened in the
/// background when calls need them, and closed when they are idle. A lane is lent to one call at a
/// time. A call never waits for a lane: if no lane is free, the call uses the shared connection.
class lanes : public std::enable_shared_from_this<lanes> {
public:
    explicit lanes(std::shared_ptr<node_context>);

    /// Borrowed connection (`lane`). The destructor returns the lane to the pool. The object is
    /// empty if no lane was free.
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

    /// Starts to read missing replies in the background, because perhaps no later call reads them.
    void collect_soon();

    /// Closes all lanes, each as soon as no call uses it. Calls under way still get their replies.
    void cut(const net::failure& why);

    /// Ends all lanes and the calls on them at once.
    void move(const net::failure& why);

    /// Ends each lane on which a reply has been missing since `since` or longer, together with its
    /// call. Returns whether any lane was ended. Lanes that wait for replicas stay, because their
    /// replies may take long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Ends the lanes that may lead to another server than the command connection, together with
    /// their calls.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the lane that brought this reply, together with its call. Does nothing if no lane
    /// brought the reply.
    void distrust(const reply&);

    /// Ends all calls and closes all lanes.
    void close();

private:
    /// Number of calls without a free lane before a lane is opened. A program that locks once or
    /// twice needs no second connection.
    static constexpr unsigned wishes_min = 4;
    static constexpr duration idle_max = std::chrono::seconds{10};
    /// Interval at which missing replies are read.
    static constexpr duration collect_period{1};

    struct entry {
        std::unique_ptr<lane> line;
        time_point used_at;
        std::string run_id; ///< run_id of its server; empty if unknown
        bool lent = false;
        bool leaves = false; ///< whether it must not be used again
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
    std::shared_ptr<connection> opening_; // the lane that is being opened
    unsigned wishes_ = 0;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to open a lane
    bool tidies_ = false;
    bool collects_ = false;
    bool suspects_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
