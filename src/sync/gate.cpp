// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

#include "sync/engine.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

bool reads(const acquisition& call) {
    return call.wanted.of->kind == lock_kind::read;
}

bool upgrades(const acquisition& call) {
    return call.wanted.under && !reads(call);
}

/// Returns whether the call wants permits. The store can grant several such calls at once.
bool wants_permits(const acquisition& call) {
    const lock_descriptor& of = *call.wanted.of;
    const std::optional<counter_kind> counted = of.counts();
    return of.kind == lock_kind::permit || (counted && counted != counter_kind::latch);
}

/// Returns whether the call only checks a latch once. Such a call need not queue, because the check
/// takes nothing from other calls.
bool looks_once_at_latch(const acquisition& call) {
    return call.wanted.of->counts() == counter_kind::latch && !call.wanted.patient;
}

/// If no reply of the store has come during a whole wait of at least this time, the wait ends with
/// an error. A shorter wait ends with "busy", because a slow network may need that time for a
/// reply.
constexpr duration silence_min{200};

/// Maximum number of this client's calls that may ask the store at the same time for permits of the
/// same semaphore.
constexpr int asking_max = 64;

} // namespace

/// Returns an empty object that all queues share. The object is never destroyed: a client may be a
/// global object, and global objects are destroyed in no fixed order.
const gate::rare_fields& gate::no_rare_fields() {
    static const rare_fields& nothing = *new rare_fields;
    return nothing;
}

gate::rare_fields& gate::ensure_rare() {
    if (!rare_)
        rare_ = std::make_unique<rare_fields>();
    return *rare_;
}

void gate::owe_courtesy(bool owed) {
    if (rare_ || owed)
        ensure_rare().owes_courtesy = owed;
}

gate::hold_set gate::holds() const {
    hold_set all = readers();
    all.insert(all.end(), rare().superseded.begin(), rare().superseded.end());
    if (holder_)
        all.push_back(holder_);
    return all;
}

bool gate::unused() const {
    const bool holds_some = holder_ || has_readers() || (rare_ && !rare_->superseded.empty());
    return !holds_some && nobody_negotiates() && queue_.empty() && !has_upgrade() && !sent_off_;
}

// A call that upgrades its own hold does not wait in the queue, because the calls in the queue wait
// for the end of that hold.
bool gate::admits(const acquisition& call) const {
    if (upgrades(call))
        return call.wanted.share.expired() || !call.wanted.under->shared_by_others();
    if (!call.wanted.of->takes_turns() || looks_once_at_latch(call))
        return true;
    if (wants_permits(call))
        return admits_to_permits(call);
    return reads(call) ? admits_reader(call) : admits_alone(call);
}

bool gate::admits_alone(const acquisition& call) const {
    const bool is_next = queue_.empty() || &queue_.front() == &call;
    if (!is_next)
        return false;
    if (queues_in_store(family_of(call.wanted.of->kind)))
        // Wait until this client's own hold ends. Until then, the store would reply "busy" because
        // of that hold.
        return asking_ == 0 && !is_on_its_way_out();
    return !holder_ && !has_readers() && nobody_negotiates();
}

/// Returns whether a call for permits may send its request to the store. Two conditions must hold.
/// The call is the next one in the queue. Each call with a pending request wants the same number of
/// permits, so that calls for few permits cannot overtake a call for many permits for long.
///
/// After a "busy" reply, only one call at a time sends a request, until the store grants permits.
/// If two requests were pending, the store could execute the later call's request first.
bool gate::admits_to_permits(const acquisition& call) const {
    const bool is_next = queue_.empty() || &queue_.front() == &call;
    const bool others_wait_there = alone_ > asking_;
    return is_next && !others_wait_there && asking_ < asking_max &&
           (asking_ == 0 || (!rare().was_busy && rare().amount_asked == call.wanted.amount));
}

void gate::waits_there(const acquisition& call) {
    --asking_;
    if (wants_permits(call))
        rare_->was_busy = true;
}

bool gate::somebody_waits_there() const {
    return alone_ + rare().reads > asking_;
}

bool gate::serves_before(const acquisition& call) const {
    const std::vector<acquisition*>& all = rare().served_in_order;
    const auto here = std::find(all.begin(), all.end(), &call);
    return here != all.end() && std::any_of(all.begin(), here, [](const acquisition* each) {
               return each->waits_there() && !each->finished();
           });
}

acquisition* gate::first_to_serve() {
    for (acquisition* const each : rare().served_in_order)
        if (each->waits_there() && !each->finished()) // a finished call leaves the queue soon
            return each;
    return first();
}

std::vector<std::shared_ptr<acquisition>> gate::served_by(std::int64_t amount) {
    std::vector<std::shared_ptr<acquisition>> some;
    const auto serve = [&](acquisition& next) {
        if (next.finished()) // a finished call leaves the queue soon
            return;
        amount -= next.wanted.amount;
        some.push_back(next.shared_from_this());
    };
    for (acquisition* const each : rare().served_in_order)
        if (amount > 0 && each->waits_there())
            serve(*each);
    for (auto each = queue_.begin(); each != queue_.end() && amount > 0; ++each)
        serve(*each);
    if (amount != 0)
        some.clear();
    return some;
}

void gate::note_store_use(time_point now) {
    ensure_rare().passes = 0;
    rare_->store_used_at = now;
}

bool gate::is_on_its_way_out() const {
    return holder_ && (holder_->release_follows() ||
                       (holder_->deferred() && holder_->now_in() == held_lock::phase::releasing));
}

/// Returns whether a reader may ask the store at the same time as other readers. If another reader
/// will soon get a hold that can be shared, a reader that can wait does not ask: it waits for that
/// hold.
bool gate::admits_reader(const acquisition& call) const {
    if (call.wanted.under)
        return true;
    const bool may_wait = call.wanted.patient && may_share(call.wanted);
    return !(may_wait && rare().sharable > 0) && !writer_before(call);
}

bool gate::writer_before(const acquisition& reader) const {
    if (alone_ > 0 || has_upgrade())
        return true;
    if (holder_)
        return true;
    for (const acquisition& each : queue_) {
        if (&each == &reader)
            return false;
        if (!reads(each))
            return true;
    }
    return false;
}

bool gate::has_upgrade_against(const acquisition& call) const {
    const acquisition* const asks = rare().upgrading;
    return upgrades(call) && ((asks && !asks->finished()) || has_upgrade());
}

bool gate::is_about_to_be_left() const {
    const auto follows = [](const shared_hold& held) { return held->release_follows(); };
    return nobody_negotiates() && queue_.empty() &&
           ((holder_ && follows(holder_)) ||
            std::any_of(readers().begin(), readers().end(), follows));
}

bool gate::is_being_left() const {
    const auto stays = [](const shared_hold& held) {
        return !held->deferred() || held->now_in() != held_lock::phase::releasing;
    };
    return nobody_negotiates() && queue_.empty() && (holder_ || has_readers()) &&
           !(holder_ && stays(holder_)) && std::none_of(readers().begin(), readers().end(), stays);
}

void gate::line_up(acquisition& waits) {
    waits.stand_in(upgrades(waits) ? ensure_rare().upgrade : queue_);
    if (!waits.follows_requests())
        return;
    ensure_rare().has_followers = true;
    if (const failure* const why = last_failure())
        waits.last_request_ended(why);
    else if (holder_ || has_readers() || somebody_waits_there())
        waits.last_request_ended(nullptr);
}

void gate::begin_negotiation(acquisition& call) {
    ++asking_;
    if (upgrades(call))
        ensure_rare().upgrading = &call;
    if (wants_permits(call)) {
        ensure_rare().amount_asked = call.wanted.amount;
        call.set_negotiation(++rare_->negotiations);
    }
    count(call, 1);
}

void gate::enter_negotiation(acquisition& call) {
    if (!wants_permits(call))
        return;
    std::vector<acquisition*>& all = rare_->served_in_order;
    const auto comes_later = [&call](const acquisition* each) {
        return each->negotiation() > call.negotiation();
    };
    all.insert(std::find_if(all.begin(), all.end(), comes_later), &call);
}

void gate::end_negotiation(const acquisition& call) {
    asking_ -= call.waits_there() ? 0 : 1;
    forget_no_reply(false); // the call has reported its own result
    if (rare().upgrading == &call)
        rare_->upgrading = nullptr;
    count(call, -1);
    if (nobody_negotiates() && queue_.empty())
        asked_at_ = time_point::max();
    if (!wants_permits(call))
        return;
    std::erase(rare_->served_in_order, &call);
    acquisition* const next = call.waits_there() ? first_to_serve() : nullptr;
    if (next)
        next->ring();
}

void gate::note_no_reply(failure why) {
    if (why.code == errc::outcome_unknown)
        why.code = make_error_code(errc::unreachable); // the calls that wait here have sent nothing
    ensure_rare().no_reply = std::move(why);
    if (const failure* const unknown = last_failure())
        tell_followers(unknown);
}

void gate::note_reply(bool granted) {
    asked_at_ = time_point::max();
    forget_no_reply(granted);
    tell_followers(nullptr);
}

void gate::forget_no_reply(bool granted) {
    if (!rare_)
        return;
    rare_->no_reply.reset();
    rare_->was_busy = rare_->was_busy && !granted;
}

/// Tells the queued calls how the last request of a call in front ended. Tells only the calls that
/// want to know it.
void gate::tell_followers(const failure* no_reply) {
    if (!rare().has_followers)
        return;
    rare_->has_followers = false;
    for (acquisition& each : queue_)
        if (each.follows_requests()) {
            rare_->has_followers = true;
            each.last_request_ended(no_reply);
        }
}

/// Returns why the last request failed. Returns null if the request got a reply, or if this client
/// holds the lock.
const failure* gate::last_failure() const {
    const bool is_unknown = rare().no_reply && !holder_ && !has_readers();
    return is_unknown ? &*rare_->no_reply : nullptr;
}

std::optional<failure> gate::why_unknown(const acquisition& behind, time_point now) const {
    if (const failure* const why = last_failure())
        return *why;
    // If a call waits at the store, the store has replied "busy", so the lock is not free. The
    // call's next request may have no reply yet, because that request waits for the confirmation of
    // a subscription.
    const bool may_be_free = !holder_ && !has_readers() && !somebody_waits_there();
    const bool is_silent = may_be_free && behind.wanted.patient && asked_at_ <= behind.started_at &&
                           now - behind.started_at >= silence_min;
    if (!is_silent)
        return std::nullopt;
    return failure{make_error_code(errc::unreachable),
                   "the store has not replied for " + std::to_string((now - asked_at_).count()) +
                       " ms to the request of an earlier call of this client"};
}

void gate::count(const acquisition& call, int by) {
    if (!reads(call)) {
        alone_ += by;
        return;
    }
    ensure_rare().reads += by;
    if (may_share(call.wanted))
        rare_->sharable += by;
}

void gate::enter(shared_hold held) {
    if (many_hold(held->what.kind))
        ensure_rare().readers.push_back(std::move(held));
    else
        holder_ = std::move(held);
}

bool gate::drop(const held_lock& held) {
    if (holder_.get() == &held) {
        holder_.reset();
        return true;
    }
    const auto is_it = [&held](const shared_hold& each) { return each.get() == &held; };
    if (!rare_ || std::erase_if(rare_->readers, is_it) == 0)
        return false;
    if (!has_readers())
        ring();
    return true;
}

void gate::ring() const {
    for (alarm* const each : rare().alarms)
        each->ring();
}

void gate::revalidate_holder() {
    if (!holder_ || !holder_->is_valid())
        return;
    holder_->revalidate();
    ensure_rare().superseded.push_back(std::move(holder_));
}

bool gate::forget_superseded(const held_lock& ended) {
    const auto is_it = [&ended](const shared_hold& each) { return each.get() == &ended; };
    return rare_ && std::erase_if(rare_->superseded, is_it) > 0;
}

void gate::open_behind(const held_lock& leaving) {
    holder_.reset();
    sent_off_ = &leaving;
}

bool gate::acknowledged(const held_lock& left) {
    if (sent_off_ != &left)
        return false;
    sent_off_ = nullptr;
    ring();
    return true;
}

void gate::let_go() {
    holder_.reset();
    if (rare_) {
        rare_->readers.clear();
        rare_->superseded.clear();
    }
    sent_off_ = nullptr;
    ring();
    while (!queue_.empty())
        (void)queue_.front().step_out();
    while (has_upgrade())
        (void)rare_->upgrade.front().step_out();
}

gate& gates::of(gate_key key) {
    map& known = named(key.of);
    if (spare_.empty())
        return known[key.name];
    spare_.key() = key.name;
    auto entered = known.insert(std::move(spare_));
    // If the queue existed already, keep the unused map node for the next queue.
    spare_ = std::move(entered.node);
    return entered.position->second;
}

gate* gates::find(gate_key key) {
    map& known = named(key.of);
    const auto found = known.find(key.name);
    return found == known.end() ? nullptr : &found->second;
}

void gates::forget(gate_key unused) {
    spare_ = named(unused.of).extract(unused.name);
    spare_.mapped().owe_courtesy(false);
}

void gates::let_go() {
    for (map& known : gates_) {
        for (auto& [name, each] : known)
            each.let_go();
        std::erase_if(known, [](const auto& entry) { return entry.second.unused(); });
    }
}

std::size_t gates::count() const {
    std::size_t all = 0;
    for (const map& known : gates_)
        all += known.size();
    return all;
}

std::vector<std::shared_ptr<held_lock>> gates::held_under(const std::string& name) {
    std::vector<std::shared_ptr<held_lock>> holds;
    for (const family each : families)
        if (const gate* const here = find({name, each}))
            for (std::shared_ptr<held_lock>& held : here->holds())
                holds.push_back(std::move(held));
    return holds;
}

std::shared_ptr<held_lock> gates::present_hold_of(const hold& what) {
    const gate* const here = find(key_of(what));
    for (std::shared_ptr<held_lock>& held : here ? here->holds() : gate::hold_set{})
        if (held->what.owner == what.owner)
            return std::move(held);
    return nullptr;
}

bool gates::others_listen(gate_key key) const {
    return contended_[static_cast<std::size_t>(key.of)].contains(key.name);
}

void gates::note_others(gate_key key, bool listen) {
    auto& contended = contended_[static_cast<std::size_t>(key.of)];
    if (!listen) {
        contended.erase(key.name);
        return;
    }
    if (contended.size() >= contended_max)
        contended.clear();
    contended.insert(key.name);
}

void gates::note_polled(gate_key key, bool others_wait, const held_lock& held, time_point now) {
    constexpr int pauses_of_one_client = 2;
    if (!others_wait)
        return forget_polled(key);
    if (polled_.size() >= contended_max)
        polled_.clear();
    polled& here = polled_.try_emplace(key.name, polled{held.taken_at}).first->second;
    // Other clients have held the lock since this client's last series of holds, so begin a new
    // series.
    if (here.left_until > here.had_since)
        here = polled{held.taken_at};
    if (now - here.had_since >= pauses_of_one_client * held.polled_within())
        here.left_until = later(now, held.polled_within());
}

time_point gates::left_to_others_until(gate_key key) const {
    const auto found = polled_.find(key.name);
    return found == polled_.end() ? time_point::min() : found->second.left_until;
}

call_timeouts::call_timeouts(engine& e)
    : engine_{e}
    , alarm_{e.time().make_alarm()} {}

void call_timeouts::watch(acquisition& call) {
    const time_point end = call.wanted.give_up_at;
    if (end == time_point::max())
        return;
    call.give_up_entry_ = deadlines_.emplace(end, &call);
    if (!std::exchange(running_, true))
        engine_.spawn(run(engine_.shared_from_this()));
    else if (end < sleeping_until_)
        alarm_->ring();
}

void call_timeouts::forget(acquisition& call) {
    if (!call.give_up_entry_)
        return;
    deadlines_.erase(*std::exchange(call.give_up_entry_, std::nullopt));
    if (deadlines_.empty() && alarm_)
        alarm_->ring(); // ends a sleep that is no longer needed
}

void call_timeouts::stop() {
    while (!deadlines_.empty())
        forget(*deadlines_.begin()->second);
}

void call_timeouts::let_go_of_clock() noexcept {
    if (!running_)
        alarm_.reset();
}

asio::awaitable<void> call_timeouts::run(std::shared_ptr<engine> home) {
    const engine::loop ends_before_closing_does{*home};
    call_timeouts& self = home->timeouts();
    while (!self.deadlines_.empty()) {
        self.sleeping_until_ = self.deadlines_.begin()->first;
        co_await self.alarm_->wait_until(self.sleeping_until_);
        if (!self.deadlines_.empty())
            self.act_on_due();
    }
    self.running_ = false;
}

void call_timeouts::act_on_due() {
    const time_point now = engine_.now();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now)
        // The loop ends, because out_of_timeout() removes the call from `deadlines_`.
        engine_.out_of_timeout(*deadlines_.begin()->second);
}

} // namespace holdfast::sync
