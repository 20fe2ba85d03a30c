// SPDX-License-Identifier: Apache-2.0
#include "sync/renewal.hpp"

#include "sync/engine.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sync {

renewal::renewal(engine& e)
    : engine_{e}
    , alarm_{e.time().make_alarm()} {}

void renewal::watch(const shared_hold& held) {
    set_next_request(*held, engine_.now() - held->round_trip, draw());
    begin(held);
}

void renewal::hand_over(held_lock& held, const shared_hold& next_owner) {
    forget(held);
    next_owner->request_at = held.request_at;
    next_owner->round_trip = held.round_trip;
    const duration lease =
        next_owner->effective_lease(); // the old hold may have had a lease of another length
    const time_point usual = later(engine_.now(), renewal_period(lease));
    // Leave enough time, even on a slow network, so that the reply to the renewal arrives before
    // the new owner of the hold is warned of a loss.
    const duration time_to_reply = std::max(lease / 5, 2 * held.round_trip);
    const time_point unwarned = next_owner->ends_at() - danger_period(lease) - time_to_reply;
    next_owner->request_at = std::min({held.request_at, usual, unwarned});
    next_owner->unanswered = held.unanswered;
    begin(next_owner);
}

void renewal::begin(const shared_hold& held) {
    if (stopped_)
        return;
    held->kept = held;
    held->watched = engine_.locks().watch_over(held->what, *held);
    schedule(*held);
}

void renewal::reschedule(held_lock& held) {
    if (!watches(held))
        return;
    const time_point now = engine_.now();
    set_next_request(held, now, draw());
    // Renew the hold earlier if its last extension was shorter than its usual lease.
    if (held.renewed() && !held.out_of_time()) {
        const duration usual_rest = held.effective_lease() - renewal_period(held.effective_lease());
        held.request_at = std::min(held.request_at, std::max(now, held.ends_at() - usual_rest));
    }
    schedule(held);
}

void renewal::abandon(held_lock& held) {
    held.set_lease(held.lease(), false);
    if (watches(held) && !std::exchange(held.abandoned, true))
        ++abandoned_;
    reschedule(held);
}

void renewal::forget(held_lock& held) {
    if (!watches(held))
        return;
    held.watched.reset();
    if (held.abandoned)
        --abandoned_;
    leave(held);
    const shared_hold perhaps_the_last = std::move(held.kept);
}

void renewal::renew_from_now_on(held_lock& held, duration lease) {
    held.untried = held.untried || !held.renewed();
    held.set_lease(lease, true);
    request_soon(held);
}

void renewal::request_soon(held_lock& held) {
    request_by(held, engine_.now());
}

void renewal::request_by(held_lock& held, time_point when) {
    if (!watches(held))
        return;
    if (held.answer_wait > duration::zero())
        held.once_more = true;
    else
        held.request_at = std::min(held.request_at, when);
    schedule(held);
}

namespace {

/// Returns the time over which the client spreads checks that are not urgent: a tenth of the
/// shortest lease. Otherwise the checks of all clients after an outage would overload the server.
constexpr duration revalidation_period(duration shortest_lease) {
    return shortest_lease / 10;
}

/// Greatest random number for earlier_by(). Each renewal request is sent a little early, by a
/// random time of up to a tenth of its period. So holds that were granted at the same time are
/// renewed at different times.
constexpr int chance_max = 1000;

constexpr duration earlier_by(duration period, int drawn) {
    return period / 10 * drawn / chance_max;
}

/// Returns the time between two renewal requests of a hold. A read hold is renewed several times
/// within the shortest lease that this client has seen on the lock. The reason is that a Redisson
/// reader with a shorter lease shortens the lease of the whole lock. If that reader died, the other
/// readers could lose the lock.
duration request_period(const held_lock& held) {
    const duration usual = renewal_period(held.effective_lease());
    if (!held.may_be_shortened())
        return usual;
    const duration known =
        std::max(renewal_period(held.kept_by_others()), renewal::read_request_min);
    return std::min({usual, known, held.home->bounds().read_request_max});
}

/// Returns the lease that a renewal request asks for. If the hold is renewed, the result is the
/// hold's lease. If the lease is fixed and only this client can shorten it, the result is zero: the
/// request then only checks that the hold exists. Other holds with a fixed lease ask for their
/// remaining time, rounded up by at most 1/64, so that holds with similar remaining times can share
/// one request.
duration lease_to_ask_for(const held_lock& held, bool renews, duration left) {
    if (renews)
        return held.lease();
    if (!held.may_be_shortened())
        return duration::zero();
    const duration rest = lease_valid_for(left);
    const auto count = static_cast<std::uint64_t>(rest.count());
    const duration step{
        static_cast<duration::rep>(std::max(std::bit_floor(count) / 64, std::uint64_t{1}))};
    const duration rounded = (rest + step - duration{1}) / step * step;
    const duration wanted = std::max(rest, std::min(rounded, held.lease()));
    return std::min(wanted, held.home->bounds().lease_max);
}

time_point next_action_of(const held_lock& held) {
    const time_point end = held.ends_at();
    time_point next = std::min(held.request_at, end);
    if (held.to_be_warned())
        next = std::min(next, end - danger_period(held.effective_lease()));
    return next;
}

} // namespace

int renewal::draw() {
    return static_cast<int>(engine_.jitter(duration{chance_max}).count());
}

void renewal::revalidate(const std::function<bool(const lock_name&)>& which, bool urgent) {
    ++revalidations_;
    batch doubted = all();
    if (which)
        std::erase_if(doubted, [&](const shared_hold& held) { return !which(held->what.name); });
    duration spread = urgent ? duration::zero() : duration::max();
    for (const shared_hold& held : doubted)
        spread = std::min(spread, revalidation_period(held->effective_lease()));
    const time_point now = engine_.now();
    const auto count = static_cast<duration::rep>(doubted.size());
    const duration chance = urgent || count == 0 ? duration::zero() : engine_.jitter(spread);
    for (duration::rep i = 0; i < count; ++i)
        request_by(*doubted[static_cast<std::size_t>(i)],
                   later(now, (spread * i + chance) / count));
    for (const shared_hold& held : doubted)
        release_writes_again(held);
}

/// Schedules the next renewal request of a hold, early enough before its expiry. The expiry may
/// come earlier than one lease from now, if the lease was fixed until now or the last extension was
/// shorter. On a slow network the request is sent earlier, so that a reply may take twice as long
/// as the last reply before the holder gets a warning.
void renewal::set_next_request(held_lock& held, time_point last, int drawn) {
    const duration period = request_period(held);
    held.request_at = later(last, period - earlier_by(period, drawn));
    if (held.needs_requests() && !held.out_of_time()) {
        const duration half = std::max((held.ends_at() - last) / 2, duration{1});
        const time_point in_time =
            held.ends_at() - danger_period(held.effective_lease()) - 2 * held.round_trip;
        const time_point soonest = later(last, std::max(period / 4, duration{1}));
        held.request_at =
            std::min({held.request_at, later(last, half), std::max(in_time, soonest)});
    }
}

void renewal::schedule(held_lock& held) {
    if (watches(held))
        leave(held);
    enter(held, next_action_of(held));
    wake_for(held.acts_at);
}

void renewal::enter(held_lock& held, time_point acts_at) {
    held.acts_at = acts_at;
    const auto hint =
        entered_last_ ? std::next(schedule_.iterator_to(*entered_last_)) : schedule_.end();
    schedule_.insert(hint, held);
    entered_last_ = &held;
}

void renewal::leave(held_lock& held) {
    if (entered_last_ == &held)
        entered_last_ = nullptr;
    schedule_.erase(schedule_.iterator_to(held));
}

/// Wakes the renewal loop if the loop would sleep beyond `when`, and starts the loop if the loop
/// has ended. Usually the function does nothing, because a busy client takes and releases thousands
/// of locks during one sleep of the loop.
void renewal::wake_for(time_point when) {
    if (!running_) {
        running_ = true;
        engine_.spawn(run(engine_.shared_from_this()));
    } else if (when < sleeping_until_) {
        alarm_->ring();
    }
}

asio::awaitable<void> renewal::run(std::shared_ptr<engine> home) {
    const engine::loop ends_before_closing_does{*home};
    renewal& self = home->renewals();
    while (!self.stopped_ && !self.schedule_.empty()) {
        self.sleeping_until_ = self.schedule_.begin()->acts_at;
        if (self.sleeping_until_ > home->now())
            co_await self.alarm_->wait_until(self.sleeping_until_);
        else // lets the executor do other work between two batches
            co_await asio::post(home->executor(), asio::use_awaitable);
        if (!self.stopped_)
            self.act_on_due();
    }
    self.running_ = false;
}

namespace {

bool is_due(const held_lock& held, time_point now) {
    return held.request_at <= now;
}

/// Returns whether the hold's renewal is due so soon that it can join the request for a hold that
/// is due now.
bool is_nearly_due(const held_lock& held, time_point now) {
    return held.request_at <= later(now, held.effective_lease() / 30);
}

} // namespace

/// Acts on all holds that are due: sends renewal requests, warns the holders, and ends expired
/// holds. If a request is due, this function also renews the holds that are nearly due. If the
/// alarm rings too early, nothing is due.
void renewal::act_on_due() {
    const time_point now = engine_.now();
    requests_by_content requests;
    batch due;
    std::size_t seen = 0;
    bool any_is_due = false;
    for (const held_lock& held : schedule_) { // in the order of `acts_at`
        if (held.acts_at > later(now, gather_within) || ++seen > batch_holds_max)
            break;
        any_is_due = any_is_due || is_due(held, now);
        if (held.acts_at <= now || (any_is_due && is_nearly_due(held, now)))
            due.push_back(held.kept);
    }
    for (shared_hold& held : due)
        act_on(std::move(held), now, requests);
    for (auto& [asked, holds] : requests)
        engine_.spawn(send_request(engine_.shared_from_this(), asked, std::move(holds)));
}

void renewal::act_on(shared_hold held, time_point now, requests_by_content& requests) {
    if (!watches(*held))
        return; // an earlier action in this loop has ended the hold
    const duration left = held->ends_at() - now;
    if (left <= duration::zero()) {
        const event_cause why = held->cause_of_expiry();
        if (held->in_flight > 0) // the store may have executed a renewal that has no reply yet
            held->perhaps_extended(held->lease());
        engine_.hold_lost(std::move(held), why);
        return;
    }
    if (held->to_be_warned() && left <= danger_period(held->effective_lease())) {
        if (held->answer_wait > duration::zero() && now - held->asked_at >= answer_period_min)
            tell_unanswered(*held, now);
        held->warn();
        engine_.tell_of(*held, event_kind::in_danger,
                        held->out_of_time() ? event_cause::max_hold : event_cause::none, left);
        if (!watches(*held))
            return; // a callback of the warning has released the hold
    }
    if (is_nearly_due(*held, now))
        send(held, now, requests);
    schedule(*held);
}

void renewal::tell_unanswered(held_lock& held, time_point now) {
    const boost::system::system_error why{
        make_error_code(errc::outcome_unknown),
        "no answer within " + std::to_string((now - held.asked_at).count()) + " ms"};
    engine_.tell_of(held, event_kind::renewal_failed, event_cause::failed, held.ends_at() - now,
                    &why);
}

/// Adds a hold to the renewal requests that are about to be sent. After a request without a reply,
/// sends the next request over two connections. The first connection may only be slow, and the
/// second may not be open yet.
void renewal::send(const shared_hold& held, time_point now, requests_by_content& requests) {
    const bool is_late = held->answer_wait > duration::zero();
    held->once_more = false;
    const bool renews = held->renewed() && !held->out_of_time();
    const duration left = held->ends_at() - now;
    if (!renews && held->may_be_shortened() && left < read_request_min) {
        // A reply would arrive after the expiry of the hold, so send no more requests.
        held->request_at = held->ends_at();
        return;
    }
    held->untried = held->untried && renews && !is_late;
    held->answer_wait =
        is_late ? next_answer_period(held->answer_wait) : answer_period(held->ends_at() - now);
    held->asked_at = now;
    held->request_at = later(now, held->answer_wait);
    const bool asks_elsewhere = is_late || held->unanswered;
    // A store with sessions uses only one connection at a time.
    const bool by_session = engine_.bounds().by_session;
    request_content own{lease_to_ask_for(*held, renews, left), renews, held->what.replicas,
                        asks_elsewhere && by_session};
    ++held->in_flight;
    requests[own].push_back(held);
    if (!asks_elsewhere || by_session)
        return;
    own.elsewhere = true;
    ++held->in_flight;
    requests[own].push_back(held);
}

/// Receiver of the replies to one renewal request. There is one reply for each hold of the request.
class renewal::reports final : public renewal_sink {
public:
    reports(renewal& home, const batch& holds, time_point sent_at, const request_content& asked)
        : home_{home}
        , holds_{holds}
        , sent_at_{sent_at}
        , asked_{asked}
        , drawn_{home.draw()} {}

    void renewed(std::size_t which, const answer& said) override {
        const shared_hold& held = holds_.at(which);
        landed(*held);
        held->unanswered = false;
        held->answer_wait = duration::zero();
        held->refusals = 0;
        const bool prolongs = was_renewal() || home_.engine_.bounds().by_session;
        const duration term = prolongs ? said.term : duration::zero();
        answer whole = said;
        whole.term = term;
        home_.answered(held, asked_, sent_at_, whole, drawn_);
    }

    /// Handles a failed renewal request. If the store could not be reached, the hold continues,
    /// because its lease is still valid.
    void failed(std::size_t which, const boost::system::system_error& why) override {
        const bool is_unconfirmed = why.code() == store_errc::not_replicated;
        const shared_hold& held = holds_.at(which);
        landed(*held);
        failed_ = why;
        const bool is_unknown = why.code() == errc::outcome_unknown;
        const bool is_outdated = is_unknown && !is_unconfirmed && held->extended_since(sent_at_);
        held->unanswered = is_unknown && !is_unconfirmed && !is_outdated;
        held->refusals = why.code() == errc::refused ? held->refusals + 1 : 0;
        if (held->in_flight == 0)
            held->answer_wait = duration::zero();
        if (is_unknown) {
            held->perhaps_extended(asked_.lease_time);
            release_late_remains(held);
        }
        // Ignore the failure if a later request has succeeded already. Also ignore the failure if
        // the request only checked a hold with a fixed lease, and replicas did not confirm it.
        const bool is_harmless = is_outdated || (is_unconfirmed && !was_renewal());
        if (!is_harmless)
            home_.failed(*held, why);
    }

private:
    void landed(held_lock& held) const {
        --held.in_flight;
        held.untried = held.untried && !was_renewal();
    }
    // Returns whether the request was a renewal. Returns false if the request only checked whether
    // holds with a fixed lease still exist.
    bool was_renewal() const { return asked_.renews; }

    renewal& home_;
    const batch& holds_;
    const time_point sent_at_;
    const request_content asked_;
    const int drawn_; // one random number for all holds, so that they share a request again
    std::optional<boost::system::system_error> failed_;
};

asio::awaitable<void> renewal::send_request(std::shared_ptr<engine> home,
                                            request_content request_content, batch holds) {
    const engine::loop ends_before_closing_does{*home};
    renewal& self = home->renewals();
    // Remove the holds that have ended: an earlier action of this loop may have ended them.
    std::erase_if(holds, [&self](const shared_hold& held) {
        if (self.watches(*held))
            return false;
        --held->in_flight;
        return true;
    });
    if (holds.empty())
        co_return;
    const time_point now = home->now();
    // A reply is useful as long as the lease that it grants. A hold may still be valid then,
    // because an earlier request may get its reply in the meantime. If replicas must confirm the
    // renewal, the server waits for them for half of the time, so there is less time.
    const bool waits_for_replicas = request_content.replicas > 0;
    renewal_options how{.lease_time = request_content.lease_time,
                        .answer_by =
                            waits_for_replicas ? now : later(now, request_content.lease_time),
                        .elsewhere = request_content.elsewhere};
    std::vector<const hold*> asked;
    asked.reserve(holds.size());
    for (const shared_hold& held : holds) {
        asked.push_back(&held->what);
        how.answer_by = std::max(how.answer_by, held->ends_at());
    }
    reports to{self, holds, now, request_content};
    co_await home->locks().renew(asked, how, to);
}

void renewal::answered(const shared_hold& held, const request_content& asked, time_point sent_at,
                       const answer& said, int drawn) {
    if (!watches(*held)) { // released or lost while the request was pending
        if (said.granted && asked.lease_time > duration::zero()) {
            held->perhaps_extended(asked.lease_time);
            release_late_remains(held);
        }
        return;
    }
    if (!said.granted) {
        engine_.hold_lost(held, event_cause::refused);
        return;
    }
    if (said.left_before)
        held->note_left(sent_at, *said.left_before);
    held->round_trip = engine_.now() - sent_at;
    if (said.term > duration::zero())
        held->extended(sent_at, asked.lease_time, said.term, asked.replicas);
    else if (asked.lease_time > duration::zero())
        held->perhaps_extended(asked.lease_time);
    if (std::exchange(held->once_more, false))
        held->request_at = engine_.now();
    else
        set_next_request(*held, std::max(sent_at, held->asked_at), drawn);
    schedule(*held);
}

void renewal::failed(held_lock& held, const boost::system::system_error& e) {
    if (!watches(held))
        return;
    engine_.tell_of(held, event_kind::renewal_failed, event_cause::failed, held.remaining(), &e);
    // If `once_more` is set, check the hold again at once. The flag stays set until the last
    // pending request has ended.
    const bool at_once = held.once_more;
    held.once_more = at_once && held.in_flight > 0;
    const duration left = held.ends_at() - engine_.now();
    const duration pause =
        at_once ? duration::zero() : retry_period(held.effective_lease(), left, held.refusals - 1);
    const time_point again_at = later(engine_.now(), pause - engine_.jitter(pause / 2));
    held.request_at = held.in_flight > 0 ? std::min(held.request_at, again_at) : again_at;
    schedule(held);
}

std::vector<std::shared_ptr<held_lock>> renewal::all() const {
    std::vector<shared_hold> holds;
    holds.reserve(schedule_.size());
    for (const held_lock& held : schedule_)
        holds.push_back(held.kept);
    return holds;
}

void renewal::stop() {
    stopped_ = true;
    entered_last_ = nullptr;
    schedule_.clear_and_dispose([](held_lock* held) {
        held->watched.reset();
        held->kept.reset();
    });
    abandoned_ = 0;
    if (running_)
        alarm_->ring();
}

void renewal::let_go_of_clock() noexcept {
    if (!running_)
        alarm_.reset();
}

namespace {

failure gone() {
    return {make_error_code(errc::lease_lost), "the lease had ended"};
}

/// Content of an extension request: the length of the lease, and the number of replicas that must
/// confirm it.
struct extend_options {
    duration length;
    unsigned replicas;
};

/// Sends one request and returns the reply. Throws the error of the request.
asio::awaitable<answer> ask_once(held_lock& held, extend_options wanted, renewal_options how) {
    engine& home = *held.home;
    const time_point sent_at = home.now();
    hold asked = held.what;
    asked.replicas = static_cast<std::uint8_t>(wanted.replicas);
    const hold* const one[] = {&asked};
    single_renewal outcome;
    how.lease_time = wanted.length;
    co_await home.locks().renew(one, how, outcome);
    try {
        const answer& said = outcome.said();
        if (said.granted)
            held.confirmed(sent_at, wanted.length, said.term, wanted.replicas);
        co_return said;
    } catch (const boost::system::system_error& e) {
        if (e.code() == errc::outcome_unknown)
            held.perhaps_extended(wanted.length);
        throw;
    }
}

/// Guard that exists during an extension. As long as it exists, the hold is not passed on to
/// another call, because the reply would not reach the new holder.
class under_way {
public:
    explicit under_way(held_lock& held)
        : held_{held} {
        ++held_.extensions;
    }
    under_way(const under_way&) = delete;
    ~under_way() { --held_.extensions; }

private:
    held_lock& held_;
};

/// State of one extension. Its requests run at the same time. The first reply decides the result of
/// the call, but every reply extends the hold.
struct tries {
    explicit tries(engine& home)
        : wake{home.time().make_alarm()} {}
    std::unique_ptr<alarm> wake; ///< null when the caller no longer waits
    std::optional<answer> said{};
    std::optional<boost::system::system_error> failed{}; ///< the latest failure
    int pending = 0;
};

asio::awaitable<void> ask_beside(std::shared_ptr<held_lock> held, extend_options wanted,
                                 renewal_options how, std::shared_ptr<tries> all) {
    const engine::task busy{*held->home};
    const under_way asked{*held};
    try {
        const answer got = co_await ask_once(*held, wanted, how);
        if (!all->said)
            all->said = got;
    } catch (const boost::system::system_error& e) {
        all->failed.emplace(e);
    }
    --all->pending;
    if (all->wake)
        all->wake->ring();
    else
        release_late_remains(held);
}

/// Maximum number of requests for one extension.
constexpr int tries_max = 3;

/// Waits for the first reply, but only until the given time or until the hold expires. Checks the
/// expiry again and again, because another extension may change the expiry during the wait.
asio::awaitable<void> await_answer(const held_lock& held, tries& all, time_point until) {
    engine& home = *held.home;
    while (!all.said && all.pending > 0 && !home.stopped()) {
        const time_point limit = std::min(until, held.ends_at());
        if (home.now() >= limit)
            break;
        co_await home.nap(*all.wake, limit);
    }
}

/// Asks the store to extend the hold. If no reply comes in time, sends the same request again over
/// another connection, while the first request is still pending. The store may execute the request
/// twice without harm, because both executions extend the hold to the same length.
asio::awaitable<answer> ask_in_time(std::shared_ptr<held_lock> held, extend_options wanted) {
    engine& home = *held->home;
    const auto all = std::make_shared<tries>(home);
    duration wait = answer_period(held->remaining());
    for (int tried = 1;; ++tried, wait = next_answer_period(wait)) {
        const time_point answer_by = held->ends_at();
        const bool is_last = tried == tries_max;
        ++all->pending;
        home.spawn(ask_beside(held, wanted, {.answer_by = answer_by, .elsewhere = tried > 1}, all));
        const time_point until = is_last ? time_point::max() : later(home.now(), wait);
        co_await await_answer(*held, *all, until);
        // The request has ended at its deadline `answer_by`. If another extension has meanwhile
        // made the hold expire later, there is time for one more request.
        const bool given_up =
            all->failed && all->failed->code() == errc::outcome_unknown && home.now() >= answer_by;
        const bool over = all->pending == 0 && !given_up;
        if (all->said || over || is_last || !held->is_valid() || home.stopped())
            break;
    }
    all->wake.reset();
    if (all->said)
        co_return *all->said;
    if (all->failed)
        throw boost::system::system_error{*all->failed};
    throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
}

asio::awaitable<failure> ask_store(std::shared_ptr<held_lock> held, extend_options wanted) {
    engine& home = *held->home;
    try {
        const answer said = co_await ask_in_time(held, wanted);
        if (!said.granted) {
            home.hold_lost(held, event_cause::refused);
            co_return gone();
        }
    } catch (const boost::system::system_error& e) {
        release_late_remains(held);
        co_return held->is_valid() ? failure{e.code(), e.what()} : gone();
    }
    if (!held->is_valid()) {
        release_late_remains(held);
        co_return gone();
    }
    co_return failure{};
}

asio::awaitable<failure> extend_by(std::shared_ptr<held_lock> held, duration length) {
    const failure why = co_await ask_store(held, {length, held->what.replicas});
    if (why.code)
        co_return why;
    // If the hold is renewed, later renewals use the old lease or the new length, whichever is
    // longer.
    const bool renewed = held->renewed();
    held->set_lease(renewed ? std::max(held->lease(), length) : length, renewed);
    held->home->renewals().reschedule(*held);
    co_return failure{};
}

/// Returns the lease that the replicas must confirm. For a fixed lease, the result is the remaining
/// time of the hold. For a renewed hold, the result is the remaining time or the whole lease,
/// whichever is longer. The result is never longer than the longest lease that the server allows
/// now.
duration whole_term(const held_lock& held) {
    const duration believed = lease_valid_for(held.remaining());
    const bool renews = held.renewed() && !held.out_of_time();
    const duration length = renews ? std::max(held.lease(), believed) : believed;
    return std::min(length, held.home->bounds().lease_max);
}

/// Maximum number of requests until replicas have confirmed a hold. Each extension that runs at the
/// same time makes one more request necessary.
constexpr int confirmations_max = 5;

asio::awaitable<failure> confirm_by(std::shared_ptr<held_lock> held, unsigned replicas) {
    for (int i = 0; i < confirmations_max && held->what.replicas < replicas; ++i) {
        const failure why = co_await ask_store(held, {whole_term(*held), replicas});
        if (why.code)
            co_return why;
        held->home->renewals().reschedule(*held);
    }
    if (held->what.replicas < replicas)
        co_return failure{make_error_code(store_errc::not_replicated),
                          "it was extended again and again while replicas were to confirm it"};
    co_return failure{};
}

asio::awaitable<void> run(std::shared_ptr<held_lock> held, asio::awaitable<failure> work,
                          release_handler done) {
    const engine::task busy{*held->home};
    failure outcome;
    {
        const under_way asked{*held};
        outcome = co_await std::move(work);
    }
    tell(*held->home, std::move(done), std::move(outcome));
}

} // namespace

void extend(std::shared_ptr<held_lock> held, duration length, release_handler done) {
    const std::shared_ptr<engine> home = held->home;
    if (!held->is_valid())
        return tell(*home, std::move(done), gone());
    home->spawn(run(held, extend_by(held, length), std::move(done)));
}

void confirm(std::shared_ptr<held_lock> held, unsigned replicas, release_handler done) {
    const std::shared_ptr<engine> home = held->home;
    if (!held->is_valid())
        return tell(*home, std::move(done), gone());
    home->spawn(run(held, confirm_by(held, replicas), std::move(done)));
}

} // namespace holdfast::sync
