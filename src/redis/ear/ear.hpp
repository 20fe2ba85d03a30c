// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/lookout.hpp"
#include "redis/ear/channels.hpp"
#include "redis/link/link.hpp"
#include "redis/suspicion.hpp"

#include <memory>
#include <string>

namespace holdfast::redis {

/// Subscriber connection (`ear`). It reconnects while there are listeners, subscribes all channels
/// again, and wakes the listeners of each channel. During silence it sends a PING from time to
/// time. Without the PING, the loss of a server that vanished without notice would never be found.
class ear final : public std::enable_shared_from_this<ear>, private talker {
public:
    explicit ear(std::shared_ptr<node_context>);

    /// Subscribes to a channel; see node::hear(). The returned object may outlive everything except
    /// the clock. `late` means that a message may have been missed already, so the confirmation
    /// wakes the listener.
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger = linger::usual,
                                  bool late = false);

    /// Returns whether the subscription is confirmed.
    bool hears(const channel_name& name) const { return channels_.heard(name.text); }

    /// Ends the connection. The next connection subscribes all channels again and wakes their
    /// listeners.
    void cut(const net::failure& why) { link_.cut(why); }
    /// Ends the connection and opens a new connection at once.
    void move(const net::failure& why) { link_.move(why); }

    /// Ends the connection and opens a new connection at once, if the command connection has
    /// changed its server and this connection may lead to another server. Otherwise the connection
    /// stays, even if it leads to a replica, because a replica publishes the same messages.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection if the server has owed a reply on it since `since` or longer. Returns
    /// whether the connection was ended.
    bool cut_silent(time_point since, const net::failure& why);

    /// Sends a PING if there are listeners and no reply is missing.
    void ask_if_there();

    void close();

private:
    /// Longest silence before a PING if another server may take over. Without the PING, nothing
    /// else would notice that the present server hangs.
    static constexpr duration silence_max = std::chrono::seconds{1};

    class listening;

    bool wants_to_talk() const override { return channels_.any_wanted(); }
    void speak(std::string& out) override;
    void hear(reply&, time_point received_at) override;
    void connected(const introduction&) override;
    void connection_failed(const net::failure&) override { channels_.give_up(); }
    void connection_lost(const net::failure&) override { channels_.disconnected(); }
    std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void watch_for(time_point limit) { lookout_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    void limit_reached(time_point now);

    asio::awaitable<bool> confirmed(listener&, time_point limit);
    void leave(listener&, linger);
    time_point now() const { return context_->home.time.now(); }
    time_point idle_until() const;

    const std::shared_ptr<node_context> context_;
    channels channels_;
    suspicion suspicion_;
    time_point last_heard_{};
    std::string run_id_;        // id of the server process; empty if unknown
    bool refusal_told_ = false; // whether the observer was told of a refusal on this connection
    bool closed_ = false;
    link link_;
    net::lookout lookout_;
};

} // namespace holdfast::redis
