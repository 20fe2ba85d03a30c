// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/redis_store.hpp"
#include "support/clocks.hpp"
#include "support/redis_connection.hpp"
#include "support/redis_server.hpp"
#include "wire_trace.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <map>
#include <memory>
#include <string>

namespace holdfast::support {

/// Redis store on a real server without its production connection. Each request is complete when
/// the call returns. For tests in simulated time.
class blocking_node final : public redis::node {
public:
    blocking_node(const std::string& socket_path, clock& time)
        : command_connection_{socket_path}
        , subscriber_{socket_path}
        , time_{time} {}

    /// Wakes the subscribers of all messages that were published so far. Before this call no
    /// message wakes a subscriber.
    void deliver();

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options) override;
    void distrust(const redis::reply&) noexcept override {}
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm& wake, redis::linger) override;
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return duration{3'000}; }
    void close() noexcept override {}

private:
    class one_listener;

    redis_connection command_connection_;
    listener subscriber_;
    clock& time_;
    const std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    std::multimap<std::string, alarm*> listeners_;
};

} // namespace holdfast::support

namespace holdfast::trace {

/// Our part of a recording: the real store on the real server, in simulated time. Calls that
/// acquire run by themselves and wait as src/sync does; everything else is done when it was done
/// in the recording. Re-entry is counted here, as in the library; on the wire the count stays 1.
class client {
public:
    /// In the queue of a fair lock.
    static constexpr duration place_outlasts = std::chrono::seconds{30};

    client(support::redis_server& server, std::string label);

    const std::string& label() const { return label_; }
    std::string owner_text(const std::string& owner) const { return to_string(owner_of(owner)); }

    /// Returns whether the library refuses to use this name.
    bool refuses(const std::string& name) { return store_.objection_to(name).has_value(); }

    void begin(const step&);
    std::optional<redis::reply> run(const command&);

    /// What was published is heard, and what can go on goes on.
    void settle();
    void advance(duration);

    struct outcome {
        call made;
        bool granted;
        std::uint64_t token = 0;
    };
    std::vector<outcome> take_ended() { return std::exchange(ended_, {}); }

    /// How many tokens Redisson would have given to re-entries of ours, which need none.
    std::int64_t tokens_saved() const { return tokens_saved_; }

    /// The longest lease that a hold was ever asked for, if it was entered more than once:
    /// Redisson cuts it down, we do not.
    std::optional<duration> longest_lease(const std::string& name, const std::string& owner) const;

private:
    struct holding {
        ask want;
        std::unique_ptr<alarm> wake;
        std::unique_ptr<place> spot;
        int count = 0;
        bool entered_again = false;
    };
    using key = std::pair<std::string, std::string>; // name and owner

    owner_id owner_of(const std::string& owner) const;
    hold hold_of(const key&, lock_kind if_unknown = lock_kind::plain) const;
    holding& line_up(const key&, lock_kind, duration lease, time_point give_up_at);
    asio::awaitable<void> acquire(call, holding&);
    bool still_held(const std::string& name, const std::string& owner);
    redis::reply unlock(const key&, lock_kind if_unknown);
    redis::reply last_token(const std::string& counter);
    bool force_unlock(const std::string& name);
    redis::reply renew(const command&);
    redis::reply time_left(const std::string& name);

    template <typename T>
    T complete(asio::awaitable<T> work) {
        std::optional<T> value;
        asio::co_spawn(io_, std::move(work), [&](std::exception_ptr failure, T result) {
            if (failure)
                std::rethrow_exception(failure);
            value = std::move(result);
        });
        clock_.run_for(duration::zero());
        return std::move(value).value();
    }

    support::redis_server& server_;
    std::string label_;
    asio::io_context io_;
    sim::sim_clock clock_{io_};
    support::blocking_node node_;
    store_context context_;
    redis::redis_locks store_{node_, context_};
    redis::lock_inspector inspector_{node_, context_};
    std::map<key, holding> holdings_;
    std::vector<outcome> ended_;
    std::int64_t tokens_saved_ = 0;
};

} // namespace holdfast::trace
