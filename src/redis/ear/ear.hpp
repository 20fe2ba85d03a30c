// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/lookout.hpp"
#include "redis/ear/channels.hpp"
#include "redis/link/link.hpp"
#include "redis/suspicion.hpp"

#include <memory>
#include <string>

namespace holdfast::redis {

/// A connection that only listens. It comes back by itself as long as somebody listens, and rings
/// for each channel that it hears again. While nothing is heard it asks whether the server is still
/// there: a peer that vanished would otherwise be listened to for ever.
class ear final : public std::enable_shared_from_this<ear>, private talker {
public:
    explicit ear(std::shared_ptr<node_context>);

    /// As node::hear. What it returns may outlive everything but the clock. `late`: something may
    /// have been missed, so the confirmation rings.
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger = linger::usual,
                                  bool late = false);

    /// Whether the subscription is confirmed.
    bool hears(const channel_name& name) const { return channels_.heard(name.text); }

    /// Ends the connection; whoever listens does so over the next one, and is rung.
    void cut(const net::failure& why) { link_.cut(why); }
    void move(const net::failure& why) { link_.move(why); } ///< likewise, which is made at once

    /// Likewise, if it may listen to the server before this one. Where it is the same one as
    /// before, the connection stays: to listen at a replica is as good.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection if it owes an answer since then or longer; returns whether it did.
    bool cut_silent(time_point since, const net::failure& why);

    /// Asks the server whether it still hears this connection, if anybody listens here.
    void ask_if_there();

    void close();

private:
    /// Where another server may take the place of one that hangs, and nobody else would tell.
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
    std::string run_id_;        // of the server; empty: not told
    bool refusal_told_ = false; // on this connection
    bool closed_ = false;
    link link_;
    net::lookout lookout_;
};

} // namespace holdfast::redis
