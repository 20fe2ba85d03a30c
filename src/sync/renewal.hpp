// SPDX-License-Identifier: Apache-2.0
// Renews holds and detects their end (the "watchdog"). Each client has one schedule of the next
// actions (`hold_schedule`) and one alarm for all holds. So a single hold needs no coroutine, timer
// or allocation of its own here.
//
// There are two kinds of actions. A *renewal request* asks the store: it renews a hold, or checks
// that a hold with a fixed lease still exists. The *expiry* ends a hold when its validity is over
// by the clock, even while a renewal request gets no reply.
//
// If a renewal request gets no reply in time, it is not cancelled, because a late reply is still
// useful: the validity is measured from when the request was sent. In the meantime two more
// requests are sent, one of them over another connection. Each wait is twice as long as the
// previous wait, so a slow network gets more time and not more requests.
//
// Holds that were renewed by one request are due again at the same time. They are neighbours in the
// schedule, so they are found without a search.
//
// The functions `extend` and `confirm` send the single requests of a user who wants a longer lease
// or more replicas.
#pragma once

#include "sync/held_lock.hpp"
#include "sync/release.hpp"

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
    /// Time window for one request: holds whose renewals are due within this window share one
    /// request.
    static constexpr duration gather_within{1000};

    /// Maximum number of holds in one request. A larger request would delay the requests that
    /// follow it.
    static constexpr std::size_t batch_holds_max = 500;
    /// Shortest time between two renewal requests of a read hold. A Redisson reader with a short
    /// lease may shorten the lease of the whole lock and then die, so this client must extend the
    /// lock often. If a read hold with a fixed lease has less than this time left, no request is
    /// sent.
    static constexpr duration read_request_min{100};

    explicit renewal(engine&);

    void watch(const std::shared_ptr<held_lock>&); ///< starts to renew a hold, after its grant
    void forget(held_lock&); ///< stops the renewal; call it before the release is sent
    /// Replaces a hold in the schedule by the hold of the next local owner.
    void hand_over(held_lock&, const std::shared_ptr<held_lock>& next_owner);
    /// Renews the hold from now on, even if its lease was fixed before.
    void renew_from_now_on(held_lock&, duration lease);
    /// Schedules the next request of the hold again, because an extension has moved its expiry.
    void reschedule(held_lock&);
    void abandon(held_lock&); ///< stops the renewal of a hold whose thread has ended

    /// Sends a renewal request for a hold at once. If a request is pending already, sends the new
    /// request after the reply to the pending request, because that reply may describe an older
    /// state.
    void request_soon(held_lock&);

    /// Checks the holds whose names `which` selects, because the store may have forgotten them. If
    /// `which` is empty, checks all holds. If `urgent` is true, the checks are sent at once.
    /// Otherwise the checks are spread over a tenth of the shortest lease of these holds.
    void revalidate(const std::function<bool(const lock_name&)>& which, bool urgent);

    /// Returns how many times revalidate() was called. If the number has changed while a lock was
    /// being requested, check the granted hold, too, because the last call of revalidate() did not
    /// know this hold yet.
    std::size_t revalidations() const { return revalidations_; }

    /// Returns whether every hold in the schedule is abandoned. No caller will release an abandoned
    /// hold.
    bool idle() const { return schedule_.size() == abandoned_; }
    std::size_t watched() const { return schedule_.size(); }
    std::vector<std::shared_ptr<held_lock>> all() const;
    /// Calls `act` for each hold in the schedule. `act` must not change the schedule.
    template <typename Act>
    void for_each(Act act) const {
        for (const held_lock& held : schedule_)
            act(held);
    }
    void stop();
    void let_go_of_clock() noexcept; ///< call it after stop()

private:
    using shared_hold = std::shared_ptr<held_lock>;
    using batch = std::vector<shared_hold>;

    class reports;

    /// Content of one request. Holds whose requests have the same content share one request.
    struct request_content {
        duration lease_time;
        /// False if the request only checks holds with a fixed lease, and does not move their
        /// expiry.
        bool renews;
        std::uint8_t replicas; ///< number of replicas that must confirm the renewal
        bool elsewhere;        ///< true: an earlier request got no reply in time
        auto operator<=>(const request_content&) const = default;
    };
    using requests_by_content = std::map<request_content, batch>;

    struct next_action {
        using type = time_point;
        time_point operator()(const held_lock& held) const { return held.acts_at; }
    };
    using hold_schedule = boost::intrusive::multiset<
        held_lock, boost::intrusive::key_of_value<next_action>,
        boost::intrusive::member_hook<held_lock, held_lock::schedule_hook,
                                      &held_lock::in_schedule>>;

    static bool watches(const held_lock& held) { return held.in_schedule.is_linked(); }
    void begin(const shared_hold&);
    int draw();
    static void set_next_request(held_lock&, time_point last, int drawn);
    void request_by(held_lock&, time_point);
    void schedule(held_lock&);
    void enter(held_lock&, time_point acts_at);
    void leave(held_lock&);
    void wake_for(time_point);
    static asio::awaitable<void> run(std::shared_ptr<engine>);
    void act_on_due();
    void act_on(shared_hold, time_point now, requests_by_content&);
    void send(const shared_hold&, time_point now, requests_by_content&);
    void tell_unanswered(held_lock&, time_point now);
    static asio::awaitable<void> send_request(std::shared_ptr<engine>, request_content, batch);
    /// Handles the reply for one hold. `drawn` is a random number, which is the same for all holds
    /// of the request.
    void answered(const shared_hold&, const request_content&, time_point sent_at, const answer&,
                  int drawn);
    void failed(held_lock&, const boost::system::system_error&);

    engine& engine_;
    hold_schedule schedule_;
    held_lock* entered_last_ = nullptr; // the next insertion is probably next to this hold
    std::size_t revalidations_ = 0;
    std::size_t abandoned_ = 0; // number of abandoned holds in the schedule
    std::unique_ptr<alarm> alarm_;
    time_point sleeping_until_ = time_point::max();
    bool running_ = false;
    bool stopped_ = false;
};

/// Asks the store, once, to keep a hold for at least `length` from now. Call it on the executor
/// only.
void extend(std::shared_ptr<held_lock>, duration length, release_handler);

/// Asks the store to have the hold confirmed by `replicas` replicas for its remaining time.
/// Completes after their confirmation. `replicas` must be more than the hold required before. After
/// that, every renewal of the hold needs `replicas` confirmations. Call it on the executor only.
void confirm(std::shared_ptr<held_lock>, unsigned replicas, release_handler);

} // namespace holdfast::sync
