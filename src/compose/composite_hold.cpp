// SPDX-License-Identifier: Apache-2.0
#include "compose/composite_hold.hpp"

#include "compose/rounds.hpp"
#include "sync/engine.hpp"
#include "sync/release.hpp"

#include <algorithm>
#include <string>
#include <utility>

// This file has three sections: the state of a hold on several locks, the operations on the hold,
// and the coroutine that keeps it alive.

namespace holdfast::compose {
namespace {

std::stop_token stopped_token() {
    std::stop_source fresh;
    fresh.request_stop(); // no callback is registered on this token yet
    return fresh.get_token();
}

} // namespace

// Posts a check to the executor of this hold. The check must not run here: a member's hold ends on
// the executor of its own client, and any thread may destroy this hold.
void composite_hold::news::operator()() const noexcept {
    (void)home->executor_access().post([of = whose] {
        if (const std::shared_ptr<composite_hold> held = of.lock())
            held->review();
    });
}

composite_hold::composite_hold(std::shared_ptr<const composite_descriptor> of,
                               const sync::request& wanted)
    : lock_handle{of->home}
    , of_{std::move(of)}
    , quorum_{dynamic_cast<const quorum_descriptor*>(of_.get())}
    , granted_at_{home->now()}
    , lease_{wanted.lease}
    , renewed_{wanted.renewed}
    , member_parts_(of_->members.size()) {}

/// The members' holds of an abandoned hold are not released; they expire.
composite_hold::~composite_hold() {
    if (abandoned_)
        for (member_part& each : member_parts_)
            (void)each.has.take();
}

bool composite_hold::counts(const member_part& each) const {
    return each.has && home->now() >= each.counts_from;
}

std::size_t composite_hold::count_valid() const {
    const auto valid = [this](const member_part& each) { return is_valid_part(each); };
    return static_cast<std::size_t>(
        std::count_if(member_parts_.begin(), member_parts_.end(), valid));
}

std::size_t composite_hold::count_well() const {
    const auto well = [this](const member_part& each) {
        return is_valid_part(each) && !each.has.hold()->in_danger().stop_requested();
    };
    return static_cast<std::size_t>(
        std::count_if(member_parts_.begin(), member_parts_.end(), well));
}

/// Returns for how long at least `needs` members' holds will stay valid.
duration composite_hold::remaining_of_parts() const {
    std::vector<duration> left;
    for (const member_part& each : member_parts_)
        if (counts(each))
            left.push_back(each.has.hold()->remaining());
    if (left.size() < of_->needs)
        return duration::zero();
    const auto last = left.begin() + static_cast<std::ptrdiff_t>(of_->needs - 1);
    std::nth_element(left.begin(), last, left.end(), std::greater<>{});
    return *last;
}

std::size_t composite_hold::note_losses() {
    std::size_t valid = 0;
    std::vector<event_cause> causes;
    for (member_part& each : member_parts_) {
        if (!each.has || each.gone)
            continue;
        if (each.has.is_valid()) {
            valid += counts(each) ? 1 : 0;
            continue;
        }
        each.gone = true;
        causes.push_back(each.has.hold()->why_lost());
        // If the next attempt to regain members is still in the future, do not change its time.
        // Otherwise frequent losses would postpone the attempt for ever.
        if (regain_from_ <= home->now())
            regain_from_ = sync::later(home->now(), sync::renewal_period(lease_));
    }
    if (lost_because_ == event_cause::none && of_->needs > valid && !causes.empty()) {
        // The cause is the first loss after which fewer than `needs` members' holds were valid.
        // Earlier losses did no harm.
        const std::size_t before = valid + causes.size();
        const std::size_t harmless = before > of_->needs ? before - of_->needs : 0;
        lost_because_ = causes[harmless];
    }
    return valid;
}

duration composite_hold::remaining() const noexcept {
    const std::scoped_lock guard{mutex_};
    return phase_ == phase::held && !given_up_ ? remaining_of_parts() : duration::zero();
}

std::string composite_hold::owner() const {
    const std::scoped_lock guard{mutex_};
    std::string all;
    for (const member_part& each : member_parts_)
        if (each.has)
            all += (all.empty() ? "" : " + ") + each.has.hold()->owner();
    return all;
}

bool composite_hold::is_over() const {
    return phase_ == phase::lost || given_up_ ||
           (phase_ == phase::held && remaining_of_parts() == duration::zero());
}

// The functions below check the members' holds by the clock, because a blocked executor may report
// a loss late.

std::stop_token composite_hold::lost() const {
    const std::scoped_lock guard{mutex_};
    return is_over() ? stopped_token() : lost_.get_token();
}

std::stop_token composite_hold::in_danger() const {
    const std::scoped_lock guard{mutex_};
    const bool over = phase_ != phase::held || given_up_;
    if (is_over() || (!over && count_well() < of_->needs))
        return stopped_token();
    if (danger_.stop_requested() && !over && count_well() >= of_->needs) {
        danger_ = std::stop_source{}; // the danger is over, so register a new callback at each part
        news{std::const_pointer_cast<composite_hold>(shared_from_this()), home}();
    }
    return danger_.get_token();
}

// Posts a check to the executor, which alone may change the members' holds. The check registers a
// callback at each member's hold.
std::stop_token composite_hold::asked() const {
    const std::scoped_lock guard{mutex_};
    if (!std::exchange(hears_wishes_, true))
        news{std::const_pointer_cast<composite_hold>(shared_from_this()), home}();
    return wish_.get_token();
}

std::optional<wish> composite_hold::received_wish() const {
    const std::scoped_lock guard{mutex_};
    for (const member_part& each : member_parts_)
        if (std::optional<wish> got =
                each.has ? each.has.hold()->received_wish() : std::optional<wish>{})
            return got;
    return std::nullopt;
}

bool composite_hold::share() {
    const std::scoped_lock guard{mutex_};
    if (phase_ != phase::held || given_up_ || remaining_of_parts() == duration::zero())
        return false;
    ++shares_;
    return true;
}

std::shared_ptr<sync::lock_handle> composite_hold::hold_of(std::size_t which) const {
    const std::scoped_lock guard{mutex_};
    return member_parts_[which].has ? member_parts_[which].has.hold()->whole() : nullptr;
}

std::vector<std::uint64_t> composite_hold::tokens() const {
    const std::scoped_lock guard{mutex_};
    std::vector<std::uint64_t> all;
    for (const member_part& each : member_parts_)
        all.push_back(each.has ? each.has.hold()->token() : 0);
    return all;
}

vote_count composite_hold::votes() const {
    const std::scoped_lock guard{mutex_};
    return {member_parts_.size(), of_->needs, count_valid()};
}

composite_hold::lock_handles composite_hold::parts() const {
    const std::scoped_lock guard{mutex_};
    lock_handles all;
    for (const member_part& each : member_parts_)
        if (each.has)
            all.push_back(each.has.hold()->whole());
    return all;
}

void composite_hold::join(std::size_t which, part got, duration counts_in) {
    const std::scoped_lock guard{mutex_};
    member_part& one = member_parts_[which];
    if (phase_ != phase::held || given_up_ || abandoned_ || one.has.is_valid())
        return; // the destructor of the parameter `got` releases the part
    if (asked_ && is_over())
        return; // the hold stays lost, because its user may have noticed the loss already
    one.loss.reset();
    one.danger.reset();
    one.wish.reset();
    one.has = std::move(got);
    one.gone = false;
    one.counts_from = sync::later(home->now(), counts_in);
    if (asked_)
        arm(one);
}

/// Registers callbacks at a member's hold: for its loss, for a danger of loss, and for a wish.
/// After a danger has passed, the member's hold has a new stop token, which needs a new callback.
void composite_hold::arm(member_part& one) {
    const news tell{weak_from_this(), home};
    if (!one.loss)
        one.loss = std::make_unique<news_callback>(one.has.hold()->lost(), tell);
    std::stop_token danger = one.has.hold()->in_danger();
    if (!one.danger || (one.warned && !danger.stop_requested()))
        one.danger = std::make_unique<news_callback>(danger, tell);
    one.warned = danger.stop_requested();
    if (hears_wishes_ && !one.wish)
        one.wish = std::make_unique<news_callback>(one.has.hold()->asked(), tell);
}

void composite_hold::begin(std::shared_ptr<member_requests> asked) {
    asked_ = std::move(asked);
    asked_->retire([whose = weak_from_this()](std::size_t which, member_answer said) {
        const std::shared_ptr<composite_hold> held = whose.lock();
        if (held && said.got)
            held->join(which, std::move(said.got), said.counts_in);
    });
    has_far_ = std::any_of(of_->members.begin(), of_->members.end(), [this](const member& each) {
        return !each->home->executor_access().leads_where(home->executor_access());
    });
    closing_ = std::make_unique<news_callback>(home->closes(), news{weak_from_this(), home});
    review();
}

void composite_hold::review() {
    std::size_t valid = 0, well = 0;
    bool is_asked = false;
    {
        const std::scoped_lock guard{mutex_};
        if (phase_ != phase::held || given_up_)
            return;
        for (member_part& each : member_parts_)
            if (each.has)
                arm(each);
        valid = note_losses();
        well = count_well();
        if (well >= of_->needs && danger_.stop_requested())
            danger_ = std::stop_source{}; // the danger is over
        is_asked = hears_wishes_ && std::ranges::any_of(member_parts_, [](const member_part& each) {
                       return each.has && each.has.hold()->received_wish();
                   });
    }
    if (home->closing())
        return give_up();
    if (valid < of_->needs)
        return lose();
    if (well < of_->needs)
        warn();
    start_keep_alive();
    if (is_asked)
        (void)wish_.request_stop(); // runs callbacks of the user, so never under the mutex
}

void composite_hold::warn() {
    std::stop_source firing{std::nostopstate};
    event_cause why{};
    {
        const std::scoped_lock guard{mutex_};
        firing = danger_;
        const auto has_reached_max_hold = [](const member_part& each) {
            return each.has && each.warned && each.has.hold()->out_of_time();
        };
        if (std::any_of(member_parts_.begin(), member_parts_.end(), has_reached_max_hold))
            why = event_cause::max_hold;
    }
    if (firing.request_stop()) // runs callbacks of the user, so never under the mutex
        home->tell_of(*this, event_kind::in_danger, why, remaining());
}

// Operations on a hold on several locks: release, extend, renew, abandon.

namespace {

sync::failure lost_before() {
    return {make_error_code(errc::lease_lost), "the lease had ended before it was released"};
}

/// Runs `work` for each member's hold on the executor of that hold, without waiting for it.
template <typename Work>
void on_each(const std::vector<std::shared_ptr<sync::lock_handle>>& parts, Work work) {
    for (const std::shared_ptr<sync::lock_handle>& each : parts)
        (void)each->home->executor_access().post([each, work] { work(*each); });
}

} // namespace

/// Takes all members' holds out of this hold. The caller must release or abandon them.
std::vector<part> composite_hold::take_parts(phase next) {
    const std::scoped_lock guard{mutex_};
    std::vector<part> all;
    phase_ = next;
    for (member_part& each : member_parts_) {
        each.loss.reset();
        each.danger.reset();
        each.wish.reset();
        if (each.has)
            all.push_back(std::move(each.has));
    }
    return all;
}

void composite_hold::lose() {
    {
        const std::scoped_lock guard{mutex_};
        (void)note_losses();
    }
    const std::vector<part> released_behind = take_parts(phase::lost);
    stop_keep_alive();
    (void)danger_.request_stop();
    (void)lost_.request_stop();
    home->tell_of(*this, event_kind::lost, lost_because_, home->now() - granted_at_);
    home->keep_no_more(*this);
}

/// Reports the loss. A caller's thread that runs its own operation must not run the user's
/// callbacks. On such a thread, the report is posted to the executor.
void composite_hold::lose_soon() {
    if (home->borrowed())
        news{weak_from_this(), home}();
    else
        lose();
}

void composite_hold::give_up() {
    {
        const std::scoped_lock guard{mutex_};
        given_up_ = true;
    }
    stop_keep_alive();
    (void)danger_.request_stop();
    (void)lost_.request_stop();
    home->tell_of(*this, event_kind::lost, event_cause::closed, home->now() - granted_at_);
    desert_parts();
}

void composite_hold::release(sync::release_handler done, const asio::any_io_executor&) {
    bool is_last = false, is_over = false;
    phase was{};
    {
        const std::scoped_lock guard{mutex_};
        was = phase_;
        is_over = !given_up_ && remaining_of_parts() == duration::zero();
        is_last = was == phase::held && --shares_ == 0;
    }
    if (was == phase::ended)
        return sync::tell(*home, std::move(done),
                          {make_error_code(errc::not_owner), "it was released before"});
    if (was == phase::held && is_over)
        lose_soon();
    if (was == phase::lost || is_over)
        return sync::tell(*home, std::move(done), lost_before());
    if (!is_last)
        return sync::tell(*home, std::move(done), {});
    lock_handles leaving;
    for (part& each : take_parts(phase::ended)) {
        if (parts_deserted_)
            each.hold()->thread_came_back();
        leaving.push_back(each.hold()->whole());
        (void)each.take(); // drop the share before the whole hold is released
    }
    stop_keep_alive();
    home->keep_no_more(*this); // at exit() a thread may still release an abandoned hold
    lock_handles released = leaving;
    std::stable_partition(released.begin(), released.end(),
                          [](const auto& each) { return each->is_valid(); });
    auto told = [self = shared_from_this(), released = std::move(released),
                 done = std::move(done)](sync::failure why) mutable {
        if (self->quorum_ && why.code && why.code != errc::lease_lost)
            // Some nodes may have executed the release.
            why.code = make_error_code(errc::outcome_unknown);
        self->tell_end(why, released);
        sync::tell(*self->home, std::move(done), std::move(why));
    };
    tally::ask(home, leaving, of_->needs, home->how().release_timeout, tally::let_go(),
               sync::release_handler{std::move(told)});
}

void composite_hold::tell_end(const sync::failure& why, const lock_handles& released) {
    {
        const std::scoped_lock guard{mutex_};
        if (given_up_)
            return; // give_up() has reported the loss
    }
    const duration length = home->now() - granted_at_;
    if (!why.code)
        return home->tell_of(*this, event_kind::released, event_cause::none, length);
    if (why.code != errc::lease_lost)
        return home->tell_of(*this, event_kind::release_failed, event_cause::failed, length, why);
    const auto is_lost = [](const auto& each) { return each->why_lost() != event_cause::none; };
    const auto lost = std::find_if(released.begin(), released.end(), is_lost);
    home->tell_of(*this, event_kind::lost,
                  lost == released.end() ? event_cause::none : (*lost)->why_lost(), length);
}

void composite_hold::release_unwaited(const asio::any_io_executor& where,
                                      const std::function<bool()>&) {
    release(sync::release_handler{[](const sync::failure&) {}}, where);
}

void composite_hold::extend(duration length, sync::release_handler done) {
    if (!is_valid())
        return sync::tell(*home, std::move(done),
                          {make_error_code(errc::lease_lost), "the lease had ended"});
    if (!renewed_)
        lease_ = length;
    tally::ask(home, parts(), of_->needs, home->bounds().time_limit, tally::extend(length),
               std::move(done));
}

/// Always fails, because the number of replicas of a hold on several locks cannot be changed. A
/// quorum may lose votes and get new votes, and a new vote would not follow the new number of
/// replicas.
void composite_hold::confirm(unsigned replicas, sync::release_handler done) {
    sync::tell(*home, std::move(done),
               {make_error_code(errc::already_held),
                "it is held with " + std::to_string(of_->replicas) +
                    " required replicas, not with " + std::to_string(replicas)});
}

asio::awaitable<ticket> composite_hold::detach() {
    throw sync::worded_error{
        {make_error_code(errc::invalid_argument), "a hold on several locks cannot be detached"}};
    co_return ticket{};
}

void composite_hold::renew_from_now_on(duration) {
    renewed_ = true;
    const std::scoped_lock guard{mutex_};
    for (std::size_t which = 0; which < member_parts_.size(); ++which)
        if (member_parts_[which].has)
            on_each({member_parts_[which].has.hold()->whole()},
                    [length = of_->members[which]->lease](lock_handle& one) {
                        one.renew_from_now_on(length);
                    });
}

void composite_hold::thread_ended() noexcept {
    const std::scoped_lock guard{mutex_};
    ++ended_threads_;
}

void composite_hold::thread_came_back() noexcept {
    const std::scoped_lock guard{mutex_};
    if (ended_threads_ > 0)
        --ended_threads_; // abandon() has not run yet, and will have no effect
    else if (!abandoned_)
        ++shares_;
}

void composite_hold::desert_parts() {
    const lock_handles all = parts();
    parts_deserted_ = true;
    for (const std::shared_ptr<lock_handle>& each : all)
        each->thread_ended();
    on_each(all, [](lock_handle& one) { one.abandon(); });
}

void composite_hold::abandon() {
    bool is_given_up = false;
    {
        const std::scoped_lock guard{mutex_};
        if (ended_threads_ == 0)
            return;
        --ended_threads_;
        if (phase_ != phase::held || shares_ > 1) {
            shares_ -= shares_ > 1 ? 1 : 0;
            return;
        }
        abandoned_ = true; // from now on, each new part is released at once
        is_given_up = given_up_;
    }
    stop_keep_alive();
    if (!is_given_up) { // otherwise give_up() has reported the loss, and the client closes
        home->keep(shared_from_this());
        home->tell_of(*this, event_kind::abandoned, event_cause::none, home->now() - granted_at_);
    }
    desert_parts();
}

// Functions that keep a hold on several locks alive. They remove members' holds that ended without
// a report, and ask the members of a quorum again for missing or lost votes.

bool composite_hold::can_regain_parts() const {
    const std::scoped_lock guard{mutex_};
    const auto is_missing = [](const member_part& each) { return !each.has.is_valid(); };
    return quorum_ && phase_ == phase::held && !given_up_ && !abandoned_ &&
           std::any_of(member_parts_.begin(), member_parts_.end(), is_missing);
}

/// Returns whether the coroutine keep_alive() is needed for this hold. One reason is a member whose
/// client has another executor: if that executor stops, the end of the member's hold is not
/// reported.
bool composite_hold::needs_keep_alive() const {
    if (can_regain_parts())
        return true;
    const std::scoped_lock guard{mutex_};
    return has_far_ && phase_ == phase::held && !given_up_;
}

void composite_hold::regain_parts() {
    review();
    if (home->now() >= regain_from_ && can_regain_parts())
        ask_missing();
}

/// Returns when to call regain_parts() next. The result is not later than the expiry of the hold,
/// because otherwise the loss of the hold might never be reported.
time_point composite_hold::next_keep_alive() const {
    const duration left = std::max(remaining(), duration{1});
    const time_point usual = sync::later(home->now(), std::min(sync::renewal_period(lease_), left));
    return regain_from_ > home->now() ? std::min(usual, regain_from_) : usual;
}

void composite_hold::start_keep_alive() {
    if (keep_alive_runs_ || !needs_keep_alive())
        return;
    keep_alive_runs_ = true;
    home->spawn(keep_alive(weak_from_this(), home));
}

void composite_hold::stop_keep_alive() {
    if (keep_alive_alarm_)
        keep_alive_alarm_->ring();
}

/// Asks each member that is missing in this hold for a new hold. If this hold is not renewed, asks
/// only for its remaining time.
void composite_hold::ask_missing() {
    std::optional<duration> rest;
    if (!renewed_)
        rest = std::max(remaining(), home->bounds().lease_min);
    const request_options how = quorum_->vote_options(rest);
    std::vector<std::size_t> missing;
    {
        const std::scoped_lock guard{mutex_};
        for (std::size_t which = 0; which < member_parts_.size(); ++which)
            if (!member_parts_[which].has.is_valid() && !asked_->is_open(which))
                missing.push_back(which);
    }
    for (const std::size_t which : missing)
        asked_->ask(which, how);
}

asio::awaitable<void> keep_alive(std::weak_ptr<composite_hold> whose,
                                 std::shared_ptr<sync::engine> home) {
    const sync::engine::loop ends_before_closing_does{*home};
    const std::unique_ptr<alarm> sleep = home->time().make_alarm();
    for (bool goes_on = true; goes_on;) {
        time_point next{};
        if (const std::shared_ptr<composite_hold> held = whose.lock()) {
            next = held->next_keep_alive();
            held->set_keep_alive_alarm(sleep.get());
        }
        co_await home->nap(*sleep, next);
        const std::shared_ptr<composite_hold> held = whose.lock();
        if (!held)
            co_return;
        held->set_keep_alive_alarm(nullptr);
        goes_on = held->needs_keep_alive() && !home->stopped();
        if (goes_on)
            held->regain_parts();
        else
            held->keep_alive_ended();
    }
}

} // namespace holdfast::compose
