// SPDX-License-Identifier: Apache-2.0
// A hold on several locks: its state, and the state of its parts. joint_verbs.cpp has the
// operations that act on the parts.
#include "compose/joint_hold.hpp"

#include "sync/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::compose {
namespace {

std::stop_token stopped_token() {
    std::stop_source fresh;
    fresh.request_stop(); // no callback is registered on this token yet
    return fresh.get_token();
}

} // namespace

// Posts a check of the hold to the hold's executor. A part ends on the executor of its own client,
// while any thread may destroy the hold.
void joint_hold::news::operator()() const noexcept {
    (void)home->reach().post([of = whose] {
        if (const std::shared_ptr<joint_hold> held = of.lock())
            held->review();
    });
}

joint_hold::joint_hold(std::shared_ptr<const joint_subject> of, const sync::request& wanted)
    : tenure{of->home}
    , of_{std::move(of)}
    , quorum_{dynamic_cast<const quorum_subject*>(of_.get())}
    , granted_at_{home->now()}
    , lease_{wanted.lease}
    , renewed_{wanted.renewed}
    , seats_(of_->members.size()) {}

/// The parts of an abandoned hold are not released. They end when their leases expire.
joint_hold::~joint_hold() {
    if (abandoned_)
        for (seat& each : seats_)
            (void)each.has.take();
}

bool joint_hold::counts(const seat& each) const {
    return each.has && home->now() >= each.counts_from;
}

std::size_t joint_hold::count_believed() const {
    const auto believed = [this](const seat& each) { return believes(each); };
    return static_cast<std::size_t>(std::count_if(seats_.begin(), seats_.end(), believed));
}

std::size_t joint_hold::count_well() const {
    const auto well = [this](const seat& each) {
        return believes(each) && !each.has.hold()->in_danger().stop_requested();
    };
    return static_cast<std::size_t>(std::count_if(seats_.begin(), seats_.end(), well));
}

/// Returns how long at least `needs` parts will stay valid.
duration joint_hold::remaining_of_parts() const {
    std::vector<duration> left;
    for (const seat& each : seats_)
        if (counts(each))
            left.push_back(each.has.hold()->remaining());
    if (left.size() < of_->needs)
        return duration::zero();
    const auto last = left.begin() + static_cast<std::ptrdiff_t>(of_->needs - 1);
    std::nth_element(left.begin(), last, left.end(), std::greater<>{});
    return *last;
}

duration joint_hold::remaining() const noexcept {
    const std::scoped_lock guard{mutex_};
    return phase_ == phase::held && !given_up_ ? remaining_of_parts() : duration::zero();
}

std::string joint_hold::owner() const {
    const std::scoped_lock guard{mutex_};
    std::string all;
    for (const seat& each : seats_)
        if (each.has)
            all += (all.empty() ? "" : " + ") + each.has.hold()->owner();
    return all;
}

bool joint_hold::is_over() const {
    return phase_ == phase::lost || given_up_ ||
           (phase_ == phase::held && remaining_of_parts() == duration::zero());
}

// Checks the parts by the clock, because the executor may be blocked and report a loss late.

std::stop_token joint_hold::lost() const {
    const std::scoped_lock guard{mutex_};
    return is_over() ? stopped_token() : lost_.get_token();
}

std::stop_token joint_hold::in_danger() const {
    const std::scoped_lock guard{mutex_};
    const bool over = phase_ != phase::held || given_up_;
    if (is_over() || (!over && count_well() < of_->needs))
        return stopped_token();
    if (danger_.stop_requested() && !over && count_well() >= of_->needs) {
        danger_ = std::stop_source{}; // the danger is over, so each part needs a new callback
        news{std::const_pointer_cast<joint_hold>(shared_from_this()), home}();
    }
    return danger_.get_token();
}

bool joint_hold::share() {
    const std::scoped_lock guard{mutex_};
    if (phase_ != phase::held || given_up_ || remaining_of_parts() == duration::zero())
        return false;
    ++shares_;
    return true;
}

std::shared_ptr<sync::tenure> joint_hold::hold_of(std::size_t which) const {
    const std::scoped_lock guard{mutex_};
    return seats_[which].has ? seats_[which].has.hold()->whole() : nullptr;
}

std::vector<std::uint64_t> joint_hold::tokens() const {
    const std::scoped_lock guard{mutex_};
    std::vector<std::uint64_t> all;
    for (const seat& each : seats_)
        all.push_back(each.has ? each.has.hold()->token() : 0);
    return all;
}

vote_count joint_hold::votes() const {
    const std::scoped_lock guard{mutex_};
    return {seats_.size(), of_->needs, count_believed()};
}

joint_hold::tenures joint_hold::parts() const {
    const std::scoped_lock guard{mutex_};
    tenures all;
    for (const seat& each : seats_)
        if (each.has)
            all.push_back(each.has.hold()->whole());
    return all;
}

void joint_hold::join(std::size_t which, part got, duration counts_in) {
    const std::scoped_lock guard{mutex_};
    seat& one = seats_[which];
    if (phase_ != phase::held || given_up_ || abandoned_ || one.has.believed())
        return; // the destructor of `got` releases the part
    if (asked_ && is_over())
        return; // not held again: its user may have noticed the loss already
    one.loss.reset();
    one.danger.reset();
    one.has = std::move(got);
    one.counts_from = sync::later(home->now(), counts_in);
    if (asked_)
        arm(one);
}

/// Registers callbacks at a part. When a danger has passed, the part has a new token and needs a
/// new callback.
void joint_hold::arm(seat& one) {
    const news tell{weak_from_this(), home};
    if (!one.loss)
        one.loss = std::make_unique<bell>(one.has.hold()->lost(), tell);
    std::stop_token danger = one.has.hold()->in_danger();
    if (!one.danger || (one.warned && !danger.stop_requested()))
        one.danger = std::make_unique<bell>(danger, tell);
    one.warned = danger.stop_requested();
}

void joint_hold::begin(std::shared_ptr<inquiry> asked) {
    asked_ = std::move(asked);
    asked_->retire([whose = weak_from_this()](std::size_t which, member_answer said) {
        const std::shared_ptr<joint_hold> held = whose.lock();
        if (held && said.got)
            held->join(which, std::move(said.got), said.counts_in);
    });
    has_far_ = std::any_of(of_->members.begin(), of_->members.end(), [this](const member& each) {
        return !each->home->reach().leads_where(home->reach());
    });
    closing_ = std::make_unique<bell>(home->closes(), news{weak_from_this(), home});
    review();
}

void joint_hold::review() {
    std::size_t believed = 0, well = 0;
    {
        const std::scoped_lock guard{mutex_};
        if (phase_ != phase::held || given_up_)
            return;
        for (seat& each : seats_)
            if (each.has)
                arm(each);
        believed = count_believed();
        well = count_well();
        if (well >= of_->needs && danger_.stop_requested())
            danger_ = std::stop_source{}; // the danger is over
    }
    if (home->closing())
        return give_up();
    if (believed < of_->needs)
        return lose();
    if (well < of_->needs)
        warn();
    tend_if_needed();
}

void joint_hold::warn() {
    std::stop_source firing{std::nostopstate};
    {
        const std::scoped_lock guard{mutex_};
        firing = danger_;
    }
    if (firing.request_stop()) // runs callbacks of the user, so never under the mutex
        home->tell_of(*this, event_kind::in_danger, event_cause::none, remaining());
}

} // namespace holdfast::compose
