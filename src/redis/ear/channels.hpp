// SPDX-License-Identifier: Apache-2.0
// Who listens to which channel, and what the server has been told of it. No I/O: the ear acts on
// what this decides.
//
// A channel is *wanted* while somebody listens, and for a while after. The server was *told* so by
// the last command about it. It is confirmed when both agree and no answer is missing.
#pragma once

#include "net/failure.hpp"
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

/// One who hears one channel.
struct listener {
    explicit listener(alarm& w)
        : wake{w} {}
    alarm& wake;
    std::unique_ptr<alarm> settled; ///< made, and rung, for who waits for the confirmation
    channel* where = nullptr;       ///< null: listens no more
    boost::intrusive::list_member_hook<> hook;
};

struct channel {
    using hook = boost::intrusive::member_hook<listener, boost::intrusive::list_member_hook<>,
                                               &listener::hook>;
    using agenda = std::multimap<time_point, channel*>;

    std::string name;
    boost::intrusive::list<listener, hook> listeners;
    bool wanted = false;
    bool told = false;
    bool to_be_told = false; ///< is in the list of those
    bool refused = false;    ///< the last SUBSCRIBE was answered with an error
    bool halved = false;     ///< of two forms the first was refused, the other is not answered yet
    bool missed = false;     ///< a message may have been missed: the next confirmation rings
    unsigned unanswered = 0; ///< commands about it
    std::optional<agenda::iterator> due; ///< end of lingering, or new attempt after a refusal
};

class channels {
public:
    /// Listens from now on. Until the subscription is confirmed it may hear nothing; `late`: it
    /// may have missed something already, so the confirmation rings.
    void add(listener&, std::string name, bool late = false);
    /// The subscription is kept until `until`, for the next one who listens; without, it ends now.
    void remove(listener&, std::optional<time_point> until);

    bool any_wanted() const { return wanted_ > 0; }
    static bool confirmed(const channel&);
    bool heard(const std::string& name) const;
    /// Nothing more will come of it for now.
    bool given_up(const channel&) const;

    /// A new connection knows no channel yet. All are listened to in that form; in two of them, one
    /// is confirmed when it is in both.
    void connected(telling form = telling::plain);
    /// What was heard until now was all. Forgets who only lingered.
    void disconnected();
    /// There will be no connection for a while.
    void give_up();
    void close();

    /// What there is to tell the server.
    void compose(std::string& out, time_point now);
    void ping() { ping_is_due_ = true; }

    /// Takes a message or an answer. Throws `failure` for what makes no sense. Returns the refusal
    /// of a subscription, which is tried again at `try_again_at`. One that the server ends unasked
    /// is tried again likewise, and is no refusal.
    std::optional<net::failure> hear(const reply&, time_point try_again_at);

    /// Whether the server has ended one unasked since this was last asked.
    bool any_dropped() { return std::exchange(dropped_, false); }

    /// Lets lingering subscriptions go, and tries refused ones again.
    void advance(time_point now);

    std::optional<time_point> next_due() const;
    std::optional<time_point> owed_since() const;

    std::size_t size() const { return channels_.size(); }

private:
    struct expected {
        channel* about; ///< null: a PING
        bool subscribe;
        bool sharded;
        time_point sent_at;
    };

    void want(channel&, bool);
    void tell_later(channel&);
    void schedule(channel&, time_point);
    void unschedule(channel&);
    void forget_if_idle(channel&);
    void message(const std::string& name);
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
    std::deque<expected> expected_; // in the order of sending, which is that of the answers
    channel::agenda agenda_;
    std::size_t wanted_ = 0;
    bool connected_ = false;
    bool hopeless_ = false; // the last attempt to connect has failed
    bool ping_is_due_ = false;
    bool dropped_ = false;
    telling form_ = telling::plain;
};

} // namespace holdfast::redis
