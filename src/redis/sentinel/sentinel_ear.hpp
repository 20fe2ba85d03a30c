// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/inquiries.hpp"
#include "redis/sentinel/sentinel_words.hpp"

#include <functional>
#include <memory>

namespace holdfast::redis {

/// Subscription to the primary switches that one Sentinel announces. After a loss it continues with
/// the next Sentinel. A client uses two of these subscriptions, because the Sentinel that leads a
/// failover announces the switch a second later than the others.
class sentinel_ear : public std::enable_shared_from_this<sentinel_ear> {
public:
    using news = std::function<void(const primary_switch&)>;

    /// `first` is the index in the list of the Sentinel to use first.
    sentinel_ear(known_context, std::size_t first, news);

    void open();
    void close();

private:
    /// Longest silence before a Sentinel gets a PING.
    static constexpr duration idle_max = std::chrono::seconds{10};
    static constexpr duration pause_min{250};
    static constexpr duration pause_max = std::chrono::seconds{10};

    using self = std::shared_ptr<sentinel_ear>;
    using shared_connection = std::shared_ptr<connection>;

    static asio::awaitable<void> keep_hearing(self);
    static asio::awaitable<void> notice_silence(self, shared_connection);
    asio::awaitable<void> hear_one(shared_connection);
    void take(const reply&);
    target next_target();

    const known_context context_;
    std::size_t next_;
    const news tell_;
    const std::unique_ptr<alarm> rest_;
    const std::unique_ptr<alarm> silence_;
    shared_connection line_;
    time_point heard_at_{};
    bool closed_ = false;
};

} // namespace holdfast::redis
