// SPDX-License-Identifier: Apache-2.0
#include "sync/acquisition_loop.hpp"

#include "sync/engine.hpp"
#include "sync/release.hpp"
#include "sync/retry_policy.hpp"

#include <algorithm>
#include <utility>

// The acquisition loop. All blocking, asynchronous and timed calls run through it, and also the
// calls that only wait until a lock is free.
//
//     line up ──▶ look ──granted in time──▶ a grant
//                  │ ▲
//       busy or no │ │ wake-up, holder's lease over, poll bound,
//          answer  ▼ │ or a pause after a failure
//                 wait ── timeout, cancelled, outage too long ──▶ undo

namespace holdfast::sync {
namespace {

owner_id number_for(acquisition& call) {
    return call.home->new_owner_id(call.wanted.permits());
}

/// Attempt of a call to acquire a lock: a waiter in the store (`place`) and an owner number. The
/// destructor releases, in the background, whatever the store may have granted, unless `keep()`
/// took the grant.
class attempt {
public:
    explicit attempt(const std::shared_ptr<acquisition>& call)
        : call_{call}
        , owner_{number_for(*call)}
        , spot_{line_up(*call, owner_)} {
        if (stood_on())
            stood_on()->begin_linked_request();
    }
    attempt(const attempt&) = delete;
    ~attempt() {
        if (stood_on())
            stood_on()->end_linked_request(gone_at());
        if (must_leave())
            undo(*call_, owner_, std::move(spot_));
    }

    place& spot() { return *spot_; }

    /// Returns the time at which the next request is sent. Throws if the store may have executed an
    /// earlier request about a counter and may have forgotten this since then, for example during a
    /// pause of the process. A repeated request would then take the permits again.
    time_point begin_request() {
        engine& home = *call_->home;
        const time_point now = home.now();
        if (!spot_->uncertain())
            known_until_ = takes_from_counter() ? later(now, home.counters()->memory() / 2)
                                                : time_point::max();
        if (now > known_until_)
            throw boost::system::system_error{make_error_code(errc::outcome_unknown),
                                              "an earlier request may have taken the permits, and "
                                              "the server may have forgotten it by now"};
        return now;
    }

    /// Returns whether the store may have a hold or a queue entry of this attempt.
    bool must_leave() const { return spot_ && (granted_ || spot_->must_leave()); }

    /// Removes the waiter and any hold of this attempt from the store. Returns true if the store
    /// certainly has neither of them any more, so that another attempt may follow.
    asio::awaitable<bool> leave() {
        if (spot_->uncertain())
            co_return false;
        try {
            if (must_leave())
                co_await spot_->leave();
        } catch (const boost::system::system_error&) {
            co_return false;
        }
        granted_ = false;
        co_return true;
    }

    /// Returns the grant. The destructor then does not release the grant. Returns nothing if the
    /// grant arrived after its own expiry. A counter's grant has no expiry, so such a grant is
    /// never too late.
    std::optional<grant> keep(time_point sent_at, const answer& said) {
        granted_ = true;
        const time_point now = call_->home->now();
        const bool counts = call_->wanted.of->counts().has_value();
        const duration term = counts ? duration::max() : said.term;
        const duration useful = counts ? term : std::min(term, call_->wanted.lease);
        sent_at = said.counts_from.value_or(sent_at);
        const time_point settled_at = spot_->uncertain() ? spot_->settled_at() : time_point::min();
        if (call_->finished() || valid_until(sent_at, useful) <= now)
            return std::nullopt;
        spot_.reset();
        const bool is_brief = said.counts_from.has_value();
        return grant{owner_,     sent_at,          term,    said.token, said.tokens,
                     settled_at, said.left_before, is_brief};
    }

private:
    bool takes_from_counter() const {
        const std::optional<counter_kind> counts = call_->wanted.of->counts();
        return call_->wanted.takes && counts && counts != counter_kind::latch;
    }
    /// Returns the write hold of the caller, if this call wants a read hold in addition to the
    /// write hold. Otherwise returns null.
    held_lock* stood_on() const {
        const bool reads = call_->wanted.of->kind == lock_kind::read;
        return reads ? call_->wanted.under.get() : nullptr;
    }
    /// Returns the time at which every grant that the store may have made to this attempt has
    /// certainly expired.
    time_point gone_at() const {
        if (!spot_ || !spot_->must_leave())
            return time_point::min();
        const time_point settled_at = std::max(spot_->settled_at(), call_->home->now());
        return forgotten_at(settled_at, call_->wanted.lease);
    }

    std::shared_ptr<acquisition> call_;
    const owner_id owner_;
    std::unique_ptr<place> spot_;
    time_point known_until_{}; // until then the store remembers the first request without a reply
    bool granted_ = false;
};

/// Returns the pauses between polls; each pause is longer than the one before. Returns nothing if a
/// release of this lock sends a notification, so that waiters need not poll.
std::optional<pauses> own_pauses(const acquisition& call) {
    const std::optional<backoff>& polls = call.wanted.of->polls;
    return polls ? std::optional<pauses>{std::in_place, *call.home, *polls} : std::nullopt;
}

/// Returns whether an earlier call of this client asks the store in place of this call. Among the
/// calls that wait for the same permits, only the earliest asks again. When its wait ends, the gate
/// wakes the next one. There is one exception: if a request of this call got no reply, this call
/// asks too, because only a later reply shows whether the request was executed. `door` is the gate
/// (local wait queue) of the call, or null.
bool leaves_asking_to_earlier_call(const acquisition& call, const gate* door, const place& spot) {
    return door && door->serves_before(call) && !spot.uncertain();
}

/// Returns when to send the next request, after the store has replied "busy".
time_point next_look(const acquisition& call, const gate* door, const place& spot,
                     const answer& said, std::optional<pauses>& polls) {
    if (leaves_asking_to_earlier_call(call, door, spot))
        return time_point::max();
    return later(call.home->now(), polls ? std::min(said.term, polls->next()) : said.term);
}

/// A call sends its last request before its deadline, by this margin plus twice the round-trip
/// time. The request contains the deadline, and the store refuses a request that arrives after it.
constexpr duration last_look_margin{5};

/// Returns when to send the next request: at `look_at`, or shortly before the deadline if that is
/// earlier. So a call finds a lock that became free without a notification: some holders send none,
/// and a notification can get lost. A call for permits behind an earlier call sends no last
/// request, because it would take the permits from the earlier call. `last_look` is the time of the
/// last request; the function plans this time until a request was sent then (`sent_at`).
time_point or_last_look(const acquisition& call, const gate* door, const place& spot,
                        time_point sent_at, time_point look_at, duration round_trip,
                        time_point& last_look) {
    const time_point end = call.wanted.give_up_at;
    const bool is_sent = sent_at >= last_look;
    if (end == time_point::max() || is_sent || leaves_asking_to_earlier_call(call, door, spot))
        return std::min(look_at, end);
    last_look = end - 2 * round_trip - last_look_margin;
    return std::min(look_at, last_look > call.home->now() ? last_look : end);
}

/// Sleeps until the given time, or until a wake-up after which this call may send a request. A
/// notification may wake several calls of this client, or only a later one. The earliest call is
/// the only one that asks then: if several calls asked, over different connections, the store could
/// serve a later call first. A store with sessions (ZooKeeper) has a queue of its own and wakes the
/// call whose turn it is, so this call asks itself.
asio::awaitable<void> until_wake_up(acquisition& call, gate* door, const place& spot,
                                    time_point until) {
    const bool store_has_queue = call.home->bounds().by_session;
    co_await call.wake().wait_until(until);
    while (!call.finished() && call.home->now() < until && !store_has_queue &&
           leaves_asking_to_earlier_call(call, door, spot)) {
        door->first_to_serve()->ring();
        co_await call.wake().wait_until(until);
    }
}

/// Sleeps until the next request may be sent. After many recent requests, the sleep is longer.
asio::awaitable<void> wait_for_pacer(acquisition& call, attempt_pacer& pacer) {
    const time_point next = std::min(pacer.next(call.home->now()), call.wanted.give_up_at);
    while (!call.finished() && call.home->now() < next)
        co_await call.wake().wait_until(next);
}

/// Sleeps until the result of this client's own last release is known, but at most for the store's
/// time limit.
asio::awaitable<void> until_acknowledged(acquisition& call, gate& door) {
    const gate::registered_alarm rung{door, call.wake()};
    while (door.awaits_acknowledgement() && !call.finished())
        co_await call.wake().wait_until(time_point::max());
}

// Functions that inform the call, and the calls behind this call in the gate (local wait queue),
// whether the store has replied to the last request of the call.

void note_reply(acquisition& call, gate* door, time_point sent_at, const answer& said) {
    if (!door)
        return;
    if (!said.answered) // nothing was sent after the deadline, or the store refused it as late
        return door->forget_request(sent_at);
    door->note_reply(said.granted);
    if (!said.granted)
        call.last_request_ended(nullptr);
}
void note_busy(acquisition& call, gate* door, const answer& said) {
    if (!door)
        return;
    if (said.answered)
        door->note_busy(call.home->now());
    call.home->found_busy(call);
}
void note_no_reply(acquisition& call, gate* door, const boost::system::system_error& e) {
    if (!door)
        return;
    const failure why{e.code(), e.what()};
    door->note_no_reply(why);
    call.last_request_ended(&why);
}

/// Throws if an earlier call asks in place of this call, and the last request of that call got no
/// reply. It is then unknown whether the permits are free.
void throw_if_unknown(const acquisition& call, const gate* door) {
    if (!door || !door->serves_before(call))
        return;
    if (std::optional<failure> why = door->why_unknown(call, call.home->now()))
        throw worded_error{std::move(*why)};
}

/// Shortest time that a call waits at its deadline until the store has removed its queue entry.
constexpr duration departure_timeout_min{100};

asio::awaitable<void> give_up_at(std::shared_ptr<acquisition> call, time_point when) {
    co_await call->home->nap(when);
    call->give_up_busy(); // does nothing if the call has ended
}

/// Removes the queue entry of the attempt before the call ends as busy. Otherwise the next release
/// could still grant the lock to the ended call. A later try would then find the lock busy,
/// although no caller has it. If the store does not reply in time, the call ends all the same, and
/// the entry is removed in the background.
asio::awaitable<void> leave_before_giving_up(std::shared_ptr<acquisition> call, attempt& here,
                                             duration round_trip) {
    if (!here.must_leave())
        co_return;
    engine& home = *call->home;
    const duration timeout =
        std::min(std::max(departure_timeout_min, 2 * round_trip), home.bounds().time_limit / 2);
    home.spawn(give_up_at(call, later(home.now(), timeout)));
    co_await here.leave();
}

[[noreturn]] void fail_late(duration lease) {
    throw boost::system::system_error{make_error_code(errc::unreachable),
                                      "the answer took longer than the lease of " +
                                          std::to_string(lease.count()) + " ms, " +
                                          std::to_string(late_grants_max) + " times in a row"};
}

} // namespace

asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<acquisition> call) {
    engine& home = *call->home;
    gate* const door = call->wanted.takes ? home.queues().find(key_of(*call)) : nullptr;
    std::optional<attempt> here{std::in_place, call};
    retry_policy trouble{home};
    std::optional<pauses> polls = own_pauses(*call);
    attempt_pacer pacer;
    int late_grants = 0;
    duration round_trip{};
    time_point last_look = time_point::max();
    while (!call->finished()) {
        const time_point sent_at = here->begin_request();
        const bool may_overtake = door && door->awaits_acknowledgement();
        time_point look_at{};
        bool is_always_late = false;
        if (door)
            door->note_request(sent_at);
        try {
            const answer said = co_await here->spot().look();
            round_trip = home.now() - sent_at;
            if (said.answered)
                trouble.over();
            note_reply(*call, door, sent_at, said);
            if (said.granted) {
                if (const std::optional<grant> kept = here->keep(sent_at, said))
                    co_return kept;
                is_always_late = ++late_grants == late_grants_max;
                if (!is_always_late)
                    continue; // the same owner asks again, so the store grants it once more
            } else if (said.answered && round_trip < call->wanted.lease) {
                late_grants = 0;
            }
            note_busy(*call, door, said);
            look_at = next_look(*call, door, here->spot(), said, polls);
        } catch (const boost::system::system_error& e) {
            look_at = trouble.next_try(e, sent_at);
            note_no_reply(*call, door, e);
        }
        if (is_always_late)
            fail_late(call->wanted.lease); // the store did reply, so the call is not retried
        if (home.now() >= call->wanted.give_up_at) {
            // Without a reply, it is unknown whether the lock is busy. So the call fails with the
            // last error, and does not report that the lock is busy.
            trouble.rethrow_if_unanswered();
            // If this request overtook this client's own earlier release, then the lock was busy
            // only because of this client's own old hold. So the call asks once more.
            bool was_ours = false;
            if (may_overtake)
                was_ours = co_await here->leave();
            if (was_ours) {
                co_await until_acknowledged(*call, *door);
                here.emplace(call);
                continue;
            }
            throw_if_unknown(*call, door);
            co_await leave_before_giving_up(call, *here, round_trip);
            call->give_up_busy();
        }
        if (call->finished())
            break;
        look_at = or_last_look(*call, door, here->spot(), sent_at, look_at, round_trip, last_look);
        co_await until_wake_up(*call, door, here->spot(), look_at);
        if (!polls) // a call that polls sleeps for its own pauses instead
            co_await wait_for_pacer(*call, pacer);
        if (home.now() >= call->wanted.give_up_at)
            trouble.rethrow_if_unanswered();
    }
    co_return std::nullopt;
}

namespace {

/// Returns how many fencing tokens to request. Each owner that gets the hold by a local hand-over
/// needs its own token.
std::uint32_t tokens_wanted(const acquisition& call) {
    gate* const here = call.home->queues().find(key_of(call));
    if (call.wanted.of->kind != lock_kind::fenced || !here || !here->first())
        return 1;
    const std::uint64_t next_owners = call.home->how().hand_off.times_max;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(next_owners + 1, tokens_reserved_max));
}

} // namespace

std::unique_ptr<place> line_up(acquisition& call, owner_id owner) {
    const lock_descriptor& lock = *call.wanted.of;
    if (!call.wanted.takes)
        return std::make_unique<seen_free>(*call.home, lock.name, call.wake());
    if (const std::optional<counter_kind> counts = lock.counts()) {
        counter_ask amount{lock.name, owner, *counts, call.wanted.amount};
        amount.give_up_at = call.wanted.give_up_at;
        amount.replicas = lock.replicas;
        return call.home->counters()->line_up(std::move(amount), call.wake());
    }
    holdfast::ask want{lock.name, owner, lock.kind};
    want.lease_time = call.wanted.lease;
    want.give_up_at = std::max(call.wanted.give_up_at, call.wanted.quorum_deadline);
    want.waits = call.wanted.patient;
    want.outlasts = lock.polls ? 2 * lock.polls->longest : lock.outlasts;
    want.tokens = tokens_wanted(call);
    want.numbers = lock.numbers;
    want.renewed = call.wanted.renewed;
    want.permits = call.wanted.permits();
    want.replicas = lock.replicas;
    if (call.wanted.under)
        want.under = call.wanted.under->what.owner.number;
    return call.home->locks().line_up(std::move(want), call.wake());
}

namespace {

/// Longest time between two checks of the lock, if the client cannot subscribe to the lock's
/// release.
constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Extra delay before a check that follows the end of a lease, because a store may delete the key 1
/// ms late.
constexpr duration expiry_rounding{2};

/// A call without a user's handler. The coroutine that created the call reads its result.
class sighting final : public acquisition {
public:
    using acquisition::acquisition;
    failure why;

private:
    void complete(outcome got) override { why = std::move(got.why); }
};

/// Guard that ends the call when its coroutine ends, also after an exception.
class ends_with_scope {
public:
    explicit ends_with_scope(acquisition& call)
        : call_{call} {}
    ends_with_scope(const ends_with_scope&) = delete;
    ~ends_with_scope() { call_.cancel(); }

private:
    acquisition& call_;
};

} // namespace

// The first check returns at once if the lock is busy. Only the second check subscribes to the
// release. So a caller that does not wait causes no subscription.
asio::awaitable<answer> seen_free::look() {
    if (found_busy_ && !subscriber_)
        subscriber_ = co_await home_.operators_view().listen(name_, wake_);
    const std::optional<holding> found = co_await home_.operators_view().inspect(name_);
    if (found && found->kind == key_kind::other)
        throw_wrong_type(found->other, "a lock");
    if (!found)
        co_return answer{.granted = true, .term = duration::max()};
    if (!std::exchange(found_busy_, true))
        co_return answer{};
    duration bound = subscriber_ ? home_.how().poll_bound : unheard_poll_bound;
    if (!found->tells)
        bound = std::min(bound, untold_poll_bound);
    const duration left = found->remaining.value_or(bound);
    co_return answer{.term = std::min(bound, left + expiry_rounding)};
}

asio::awaitable<bool> wait_until_free(std::shared_ptr<const lock_descriptor> lock,
                                      duration timeout) {
    request wanted = request_for(std::move(lock), timeout, std::nullopt);
    wanted.takes = false;
    const auto call = std::make_shared<sighting>(std::move(wanted));
    const ends_with_scope over{*call};
    bool seen = false;
    if (call->home->take_up(*call)) {
        const acquisition::alarm_holder sleeps_here{*call};
        seen = (co_await acquire(call)).has_value();
    }
    if (call->why.code)
        throw boost::system::system_error{call->why.code, call->why.text};
    co_return seen;
}

asio::awaitable<void> look_out(std::shared_ptr<acquisition> call) {
    const std::shared_ptr<engine> home = call->home;
    if (call->finished() || !home->take_up(*call))
        co_return;
    const acquisition::alarm_holder sleeps_here{*call};
    try {
        (void)co_await acquire(call);
        call->succeed_jointly(nullptr);
    } catch (const boost::system::system_error& e) {
        call->fail({e.code(), e.what()});
    }
}

} // namespace holdfast::sync
