// SPDX-License-Identifier: Apache-2.0
// Keeps holds alive and notices when they end: the "watchdog". One per client, one agenda of next
// actions, one alarm; no coroutine or timer per hold, and nothing allocated for it.
//
// Two questions are kept apart on purpose. *Contact* asks the store: to renew, or for a fixed lease
// to see whether it is still ours. *The end of the term* is the clock's, whatever a contact that
// hangs in the network may be doing.
//
// A contact that is not answered in time goes on: its answer counts whenever it comes, from when
// its request was sent. Two more are sent beside it, one of them over another connection. The waits
// double: a slow network gets more time, and not more requests.
//
// Holds that were renewed by one request are due again at one moment: their places in the agenda
// are next to each other, and are found without a search.
#pragma once

#include "sync/wire_hold.hpp"

#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace holdfast::sync {

class renewal {
public:
    /// Renewals that are due this close together travel together.
    static constexpr duration gather_within{1000};

    /// So many at once, and no more: whoever else asks the store waits behind them.
    static constexpr std::size_t company_max = 500;

    explicit renewal(engine&);

    void watch(const std::shared_ptr<wire_hold>&); ///< from its grant on
    void forget(wire_hold&);                       ///< before its release is sent
    void pass_on(wire_hold&, const std::shared_ptr<wire_hold>& heir); ///< in its place
    void renew_from_now_on(wire_hold&, duration lease);               ///< whatever it was
    void reschedule(wire_hold&);                                      ///< it was extended
    void abandon(wire_hold&); ///< nobody is left to release it

    /// Asks for it at once. What is in flight may be an older truth: then right after its answer.
    void contact_soon(wire_hold&);

    /// The store may have forgotten those whose names `which` picks (empty: all). Urgent: they are
    /// asked for at once, otherwise spread over a part of the shortest lease among them.
    void doubt(const std::function<bool(const lock_name&)>& which, bool urgent);

    /// So often was there doubt. A grant that was asked for before the last is doubtful, too.
    std::size_t doubts() const { return doubts_; }

    /// Whether there is nothing that somebody may yet release.
    bool idle() const { return agenda_.size() == abandoned_; }
    std::size_t watched() const { return agenda_.size(); }
    std::vector<std::shared_ptr<wire_hold>> all() const;
    void stop();
    void let_go_of_clock() noexcept; ///< after it was stopped

private:
    using shared_hold = std::shared_ptr<wire_hold>;
    using batch = std::vector<shared_hold>;

    class reports;

    /// What one request asks. Holds that ask the same travel together.
    struct errand {
        duration lease_time;
        bool renews;           ///< else it asks about fixed holds, and their terms stay
        std::uint8_t replicas; ///< must confirm it
        bool elsewhere;        ///< an earlier request was not answered in time
        auto operator<=>(const errand&) const = default;
    };
    using errands = std::map<errand, batch>;

    struct next_action {
        using type = time_point;
        time_point operator()(const wire_hold& held) const { return held.acts_at; }
    };
    using agenda = boost::intrusive::multiset<
        wire_hold, boost::intrusive::key_of_value<next_action>,
        boost::intrusive::member_hook<wire_hold, wire_hold::agenda_hook, &wire_hold::in_agenda>>;

    static bool watches(const wire_hold& held) { return held.in_agenda.is_linked(); }
    void begin(const shared_hold&);
    int draw();
    static void set_next_contact(wire_hold&, time_point last, int drawn);
    void contact_by(wire_hold&, time_point);
    void schedule(wire_hold&);
    void enter(wire_hold&, time_point acts_at);
    void leave(wire_hold&);
    void wake_for(time_point);
    static asio::awaitable<void> run(std::shared_ptr<engine>);
    void act_on_due();
    void act_on(shared_hold, time_point now, errands&);
    void send(const shared_hold&, time_point now, errands&);
    void tell_unanswered(wire_hold&, time_point now);
    static asio::awaitable<void> contact(std::shared_ptr<engine>, errand, batch);
    /// `drawn` by all of one request.
    void answered(const shared_hold&, const errand&, time_point sent_at, const answer&, int drawn);
    void failed(wire_hold&, const boost::system::system_error&);

    engine& engine_;
    agenda agenda_;
    wire_hold* entered_last_ = nullptr; // the next one is likely to stand behind it
    std::size_t doubts_ = 0;
    std::size_t abandoned_ = 0; // of those in the agenda
    std::unique_ptr<alarm> alarm_;
    time_point sleeping_until_ = time_point::max();
    bool running_ = false;
    bool stopped_ = false;
};

} // namespace holdfast::sync
