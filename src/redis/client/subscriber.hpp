// SPDX-License-Identifier: Apache-2.0
// Subscriber connection to one server (`subscriber`), and the table of its subscriptions
// (`channels`).
#pragma once

#include "net/deadlines.hpp"
#include "net/failure.hpp"
#include "redis/client/connection.hpp"
#include "redis/node.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::redis {

struct channel;

/// Listener of one channel. Its creator keeps it alive while it is in the table of channels.
struct listener {
    explicit listener(alarm& w)
        : wake{w} {}
    alarm& wake;
    std::string last_message{};
    /// Alarm of a caller that waits for the confirmation of the subscription, or null.
    std::unique_ptr<alarm> settled;
    channel* where = nullptr; ///< null: not subscribed any more
    boost::intrusive::list_member_hook<> hook;
};

/// State of the subscription to one channel. `wanted`: the channel has listeners, or had some a
/// short time ago. `told`: the last command for the channel was a subscription. The subscription is
/// confirmed when both are true and no reply is missing.
struct channel {
    using hook = boost::intrusive::member_hook<listener, boost::intrusive::list_member_hook<>,
                                               &listener::hook>;
    using due_map = std::multimap<time_point, channel*>;

    std::string name;
    boost::intrusive::list<listener, hook> listeners;
    bool wanted = false;
    bool told = false;
    bool to_be_told = false; ///< true: the channel is in `channels::to_be_told_`
    bool refused = false;    ///< true: the server refused or ended the subscription
    /// True if the server refused the plain subscription, but has not replied to the sharded
    /// subscription yet.
    bool halved = false;
    /// True if a message may have been missed. The next confirmation then wakes the listeners.
    bool missed = false;
    unsigned unanswered = 0; ///< number of commands about this channel without a reply
    /// Time at which a subscription without listeners must end, or at which a refused subscription
    /// must be tried again.
    std::optional<due_map::iterator> due;
};

/// Table of all channels of one subscriber connection: which listeners want which channel, and
/// which commands were sent for it. Does no I/O: the `subscriber` sends the commands and reads the
/// replies.
class channels {
public:
    /// Adds a listener. The listener may miss messages until the subscription is confirmed. `late`:
    /// the listener may have missed a message already, so the confirmation wakes it.
    void add(listener&, std::string name, bool late = false);
    /// Removes a listener. If it was the channel's last listener, the subscription stays until the
    /// time `until`, so that a new listener can use it. If `until` is empty, the subscription ends
    /// now.
    void remove(listener&, std::optional<time_point> until);

    bool any_wanted() const { return wanted_ > 0; }
    static bool confirmed(const channel&);
    bool heard(const std::string& name) const;
    /// Returns whether waiting for the confirmation is useless, because the subscription was
    /// refused or no connection could be made.
    bool given_up(const channel&) const;

    /// Subscribes to all wanted channels again, because a new connection has no subscriptions.
    /// `form` selects plain subscriptions, sharded subscriptions, or both. With `both`, a channel
    /// is confirmed when both of its subscriptions are confirmed.
    void connected(telling form = telling::plain);
    /// Marks all channels as not subscribed. Forgets the channels that have no listeners.
    void disconnected();
    /// Wakes all callers that wait for a confirmation, because no connection could be made.
    void give_up();
    void close();

    /// Appends the commands that must be sent to the server now.
    void compose(std::string& out, time_point now);
    void ping() { ping_is_due_ = true; }

    /// Processes a message or a reply. If the server refused a subscription, schedules the next
    /// attempt for `try_again_at`, and returns the error. If the server ended a subscription by
    /// itself, also schedules the next attempt, but returns nothing. Throws `failure` for an
    /// invalid reply.
    std::optional<net::failure> hear(const reply&, time_point try_again_at);

    /// Returns whether the server has ended a subscription by itself since the last call of this
    /// function.
    bool any_dropped() { return std::exchange(dropped_, false); }

    /// Ends subscriptions that have had no listener for long enough, and retries refused
    /// subscriptions.
    void advance(time_point now);

    std::optional<time_point> next_due() const;
    std::optional<time_point> owed_since() const;

    std::size_t size() const { return channels_.size(); }

private:
    struct expected {
        channel* about; ///< null: the command is a PING
        bool subscribe;
        bool sharded;
        time_point sent_at;
    };

    void want(channel&, bool);
    void tell_later(channel&);
    void schedule(channel&, time_point);
    void unschedule(channel&);
    void forget_if_idle(channel&);
    void message(const std::string& name, const std::string& text);
    void tell(std::string& out, channel&, bool sharded, time_point now);
    bool is_unasked(const reply& verb, const reply& name) const;
    void dropped(const std::string& name, time_point try_again_at);
    void answer(const reply& kind, const reply& name, time_point try_again_at);
    bool is_twin_awaited(const expected& of) const;
    std::optional<net::failure> refuse(const reply&, time_point try_again_at);
    expected next_expected();
    void try_again(channel&, time_point when);
    static void settle(channel&);

    std::unordered_map<std::string, channel> channels_;
    std::deque<channel*> to_be_told_;
    // Commands without a reply, in the order of sending. The replies come in the same order.
    std::deque<expected> expected_;
    channel::due_map due_channels_;
    std::size_t wanted_ = 0;
    bool connected_ = false;
    bool hopeless_ = false; // true: the last attempt to connect failed
    bool ping_is_due_ = false;
    bool dropped_ = false;
    telling form_ = telling::plain;
};

/// Subscriber connection. While there are listeners, it reconnects after a loss, subscribes to all
/// channels again, and wakes all listeners. If the server sends nothing for a while, the client
/// sends a PING, to find out whether the server has vanished without notice.
class subscriber final : public std::enable_shared_from_this<subscriber>, private channel_handler {
public:
    explicit subscriber(std::shared_ptr<node_context>);

    /// Subscribes to a channel; see node::hear(). The returned object may outlive this subscriber
    /// and its node, but not the client's clock. `late` says that a message may have been missed
    /// already, so the confirmation must wake the listener.
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger = linger::usual,
                                  bool late = false);

    /// Returns whether the subscription is confirmed.
    bool hears(const channel_name& name) const { return channels_.heard(name.text); }

    /// Ends the connection. The next connection subscribes to all channels again and wakes the
    /// listeners of all channels.
    void cut(const net::failure& why) { connection_.cut(why); }
    /// Ends the connection, and opens a new one at once.
    void move(const net::failure& why) { connection_.move(why); }

    /// Replaces this connection if the command connection has changed its server, and this
    /// connection may still go to the old server. A connection to a replica stays, because a
    /// replica publishes the same messages.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection if it has waited for a reply since the time `since` or longer. Returns
    /// whether the connection was ended.
    bool cut_silent(time_point since, const net::failure& why);

    /// Sends a PING if there are listeners and no reply is missing.
    void ask_if_there();

    void close();

private:
    /// Time without a message after which a PING is sent if another server can take over. The PING
    /// shows whether the server in use hangs.
    static constexpr duration silence_max = std::chrono::seconds{1};

    class listening;

    bool wants_to_talk() const override { return channels_.any_wanted(); }
    void speak(std::string& out) override;
    void hear(reply&, time_point received_at) override;
    void connected(const server_hello&) override;
    void connection_failed(const net::failure&) override { channels_.give_up(); }
    void connection_lost(const net::failure&) override { channels_.disconnected(); }
    std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void watch_for(time_point limit) { deadline_timer_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    void limit_reached(time_point now);

    asio::awaitable<bool> confirmed(listener&, time_point limit);
    void leave(listener&, linger);
    time_point now() const { return context_->home.time.now(); }
    time_point idle_until() const;

    const std::shared_ptr<node_context> context_;
    channels channels_;
    hang_detector hang_detector_;
    time_point last_heard_{};
    std::string run_id_;        // id of the server process; empty if unknown
    bool refusal_told_ = false; // true: a refusal on this connection was reported
    bool closed_ = false;
    reconnecting_connection connection_;
    net::deadline_timer deadline_timer_;
};

} // namespace holdfast::redis
