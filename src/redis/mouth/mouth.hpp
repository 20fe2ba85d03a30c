// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/link.hpp"
#include "redis/link/lookout.hpp"
#include "redis/mouth/pipeline.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace holdfast::redis {

/// A connection for requests. What is asked while a write is under way goes out with the next one,
/// and answers are matched to who asked by their order alone.
///
///   asked ─▶ queued ─▶ written ─▶ answered
///              │          ├─▶ late: outcome_unknown. Its answer is still awaited, since what is
///              │          │   sent behind it is carried out behind it; after twice the time the
///              │          │   connection is given up
///              │          └─▶ connection lost: outcome_unknown
///              └─▶ late, or no connection can be made: unreachable; else it waits for the next one
///
/// Whoever waits is resumed from within the loop that reads.
class mouth final : public std::enable_shared_from_this<mouth>, private talker {
public:
    explicit mouth(std::shared_ptr<node_context>);

    /// As node::call.
    asio::awaitable<reply> ask(const script&, request::names_list keys,
                               request::arguments_list arguments);

    /// Ends the connection, and what was sent over it is unknown.
    void cut(const net::failure& why) { link_.cut(why); }

    /// Ends who waits, with `errc::closed`, but not within this call.
    void close();

private:
    /// More than that is not written at once, so that what is far behind can still be withdrawn.
    static constexpr std::size_t batch_bytes_max = 256 * 1024;

    /// A peer that vanished is found in a third of the default lease, if nothing is said meanwhile,
    /// but nobody is asked more often than an answer may take, nor less than this.
    static constexpr duration idle_max = std::chrono::minutes{1};

    bool wants_to_talk() const override { return pipeline_.anything_queued(); }
    void speak(std::string& out) override;
    void hear(reply&, time_point received_at) override;
    void connected() override;
    void connection_failed(const net::failure&) override;
    void connection_lost(const net::failure&) override;
    time_point next_limit() const override;
    void limit_reached(time_point now) override;
    std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void admit() const;
    void enqueue(request&);
    void withdraw(request&);
    void resume(request&);
    void end(const std::vector<request*>&, const net::failure& why);
    time_point idle_until() const { return last_heard_ + idle_bound_; }
    net::failure unsent() const;
    net::failure unanswered() const;

    const std::shared_ptr<node_context> context_;
    const duration patience_;
    const duration idle_bound_;
    pipeline pipeline_;
    std::optional<net::failure> trouble_; // why there is no connection
    time_point last_heard_{};
    bool ping_is_due_ = false;
    bool closed_ = false;
    link link_;
    lookout lookout_;
};

} // namespace holdfast::redis
