// SPDX-License-Identifier: Apache-2.0
#include "sync/engine.hpp"

#include "sync/gate.hpp"
#include "sync/release.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <string_view>

namespace holdfast::sync {
namespace {

/// Returns a new identity of a client: a UUID of version 8 (the version for custom layouts). The
/// third group of its text identifies holdfast. JVMs use UUIDs of version 4. So scripts and people
/// can see whether a holder is a holdfast client or a JVM.
std::array<std::uint8_t, 16> new_identity(const std::function<std::uint64_t()>& random) {
    std::array<std::uint8_t, 16> id{};
    const std::uint64_t halves[] = {random(), random()};
    for (std::size_t i = 0; i < id.size(); ++i)
        id[i] = static_cast<std::uint8_t>(halves[i / 8] >> (8 * (i % 8)));
    id[6] = 0x8f;                                             // version 8, "f"
    id[7] = 0xd5;                                             // "d5": the mark of holdfast
    id[8] = static_cast<std::uint8_t>(0x80 | (id[8] & 0x3f)); // the variant of RFC 9562
    return id;
}

/// Abandons a hold later, on the executor, because the thread that held it is ending.
void abandon_later(std::shared_ptr<lock_handle> held) {
    const std::shared_ptr<engine> home = held->home;
    auto abandon = [held = std::move(held)] { held->abandon(); };
    (void)home->executor_access().post(std::move(abandon));
}

/// Returns how long the store must remember a request that changes a counter. The engine repeats
/// such a request for at most half of that time: `unavailable_timeout` and one last attempt. If the
/// user has not set `unavailable_timeout`, the function assumes 30 s, the longest default of any
/// store. The store's own default is not known yet, because the store is created later.
duration request_memory(const options& how) {
    constexpr duration least = std::chrono::minutes{1}, most = std::chrono::hours{24};
    constexpr duration longest_usual_outage = std::chrono::seconds{30};
    const duration outage = how.unavailable_timeout.value_or(longest_usual_outage);
    const duration repeated = std::min(outage, most) + 2 * std::min(how.release_timeout, most);
    return std::max(least, 2 * repeated);
}

} // namespace

engine::engine(engine_environment around, options how)
    : around_{std::move(around)}
    , how_{std::move(how)}
    , identity_{new_identity(how_.random)}
    , threads_{std::make_shared<thread_table>(abandon_later, around_.forked)}
    , executor_access_{std::make_shared<sync::executor_access>(around_.executor,
                                                               around_.own_thread)}
    , renewal_{*this}
    , timeouts_{*this}
    , quiet_{time().make_alarm()} {
    store_ = how_.store(store_context{
        .executor = executor(),
        .time = time(),
        .random = how_.random,
        .client = identity_,
        .label = how_.label,
        .poll_bound = how_.poll_bound,
        .tell = [this](const event& e) { tell(e); },
        .lease_time = how_.lease_time,
        .announce = how_.announce,
        .revalidate = [this](const auto& which, bool urgent) { revalidate(which, urgent); },
        .holds_any = [this] { return renewal_.watched() > 0; },
        .activity = [this](time_point began_by,
                           activity_limits limits) { return activity(began_by, limits); },
        .request_memory = request_memory(how_),
        .at_work = [this] { return store_at_work(); },
        .post =
            [way = executor_access_](auto work) { return way->post_from_afar(std::move(work)); }});
    bounds_ = store_->locks().bounds();
    unavailable_timeout_ = how_.unavailable_timeout.value_or(bounds_.usual_outage);
}

engine::~engine() = default;

void engine::revalidate(const std::function<bool(const lock_name&)>& which, bool urgent) {
    renewal_.revalidate(which, urgent);
}

namespace {

/// Sorts the entries by their age, with the oldest first. Keeps the first `limit` entries, and
/// removes all others.
template <typename Entry, typename Since>
void keep_oldest(std::vector<Entry>& all, std::size_t limit, Since since) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
    std::partial_sort(all.begin(), all.begin() + count, all.end(),
                      [&](const Entry& a, const Entry& b) { return since(a) < since(b); });
    all.erase(all.begin() + count, all.end());
}

/// Returns whether the call waits for a lock of the store, and not for a counter or for several
/// locks. The members of several locks have calls of their own.
bool waits_for_lock(const acquisition& call) {
    return call.wanted.takes && call.wanted.patient && !call.finished() &&
           !call.wanted.of->counts() && !call.wanted.of->is_joint();
}

} // namespace

client_activity engine::activity(time_point began_by, activity_limits limits) const {
    client_activity found;
    found.idle = calls_.empty() && renewal_.watched() == 0;
    std::vector<const held_lock*> holds;
    renewal_.for_each([&](const held_lock& held) {
        if (held.granted_at <= began_by && held.what.kind != lock_kind::permit)
            holds.push_back(&held);
    });
    std::vector<const acquisition*> waits;
    for (const acquisition& call : calls_)
        if (waits_for_lock(call) && call.started_at <= began_by)
            waits.push_back(&call);
    found.holds_total = holds.size();
    found.waits_total = waits.size();
    std::erase_if(holds, [&](const held_lock* held) {
        return held->what.name.text.size() > limits.name_size;
    });
    std::erase_if(waits,
                  [&](const acquisition* call) { return call->name().size() > limits.name_size; });
    keep_oldest(holds, limits.entries, [](const held_lock* held) {
        return std::pair{held->granted_at, held->what.owner.number};
    });
    std::stable_sort(waits.begin(), waits.end(), [](const acquisition* a, const acquisition* b) {
        return a->started_at < b->started_at;
    });
    waits.resize(std::min(limits.entries, waits.size()));
    for (const held_lock* const held : holds)
        found.holds.push_back({.name = held->what.name.text,
                               .kind = held->what.kind,
                               .number = held->what.owner.number,
                               .since = held->granted_at,
                               .renewed = held->renewed()});
    for (const acquisition* const call : waits)
        found.waits.push_back({.name = call->name(),
                               .kind = call->wanted.of->kind,
                               .since = call->started_at,
                               .give_up_at = call->wanted.give_up_at});
    return found;
}

owner_id engine::new_owner_id(std::uint32_t numbers) {
    const std::uint64_t first = last_number_ + 1;
    last_number_ += numbers;
    return {identity_, first};
}

duration engine::jitter(duration up_to) {
    const auto choices = static_cast<std::uint64_t>(std::max<duration::rep>(up_to.count(), 0)) + 1;
    return duration{static_cast<duration::rep>(how_.random() % choices)};
}

void engine::spawn(asio::awaitable<void> work, const asio::any_io_executor& where) {
    asio::co_spawn(where, std::move(work),
                   [self = shared_from_this()](const std::exception_ptr& bug) {
                       if (bug)
                           std::rethrow_exception(bug);
                   });
}

void engine::start(const std::shared_ptr<acquisition>& call, const asio::any_io_executor& where) {
    if (call->finished())
        return; // cancelled before it began
    call->begin();
    if (take_up(*call))
        admit(call, where);
    call->begun();
}

bool engine::take_up(acquisition& call) {
    if (closing_) {
        call.fail({make_error_code(errc::closed), "the client is closed"}, event_cause::closed);
        return false;
    }
    if (calls_count_ >= how_.waiters_max) {
        call.fail({make_error_code(errc::overloaded),
                   "options::waiters_max = " + std::to_string(how_.waiters_max) +
                       " calls of this client wait already"});
        return false;
    }
    calls_.push_back(call);
    ++calls_count_;
    return true;
}

void engine::acquisition_over(acquisition& call) {
    timeouts_.forget(call);
    if (!call.is_under_way())
        return;
    call.end();
    --calls_count_;
}

void engine::hold_lost(std::shared_ptr<held_lock> held, event_cause why) {
    // A caller's thread that runs its own operation must not run the user's stop callbacks.
    if (borrowed()) {
        auto later = [self = shared_from_this(), held = std::move(held), why] {
            self->hold_lost(held, why);
        };
        return asio::post(executor(), std::move(later));
    }
    renewal_.forget(*held);
    if (held->lose(why)) {
        tell_lost(*held, why);
        const bool may_have_a_part = held->what.permits > 1;
        if (!may_have_a_part && (why == event_cause::refused || why == event_cause::forced))
            release_when_settled(held, time_point::min());
        else
            release_remains(held);
    }
    hold_over(*held);
    ring_if_quiet();
}

asio::awaitable<bool> engine::force_unlock(lock_name name, std::string only_from) {
    return force(name, operators_view().force_release(name, std::move(only_from)));
}

asio::awaitable<bool> engine::force_kind(lock_name name, lock_kind kind) {
    return force(name, operators_view().force_kind(name, kind));
}

namespace {

using held_locks = std::vector<std::shared_ptr<held_lock>>;

/// Guard that marks the holds that a running force_unlock() of this client may remove. If a renewal
/// or a release finds that a marked hold is gone, it reports the cause `forced`. The mark is needed
/// because the reply to the renewal may arrive before the reply to the force_unlock(). If a marked
/// hold is handed over locally, the next hold gets the mark, too.
class force_mark {
public:
    force_mark(gates& all, const held_locks& holds)
        : all_{all}
        , holds_{holds} {
        for (const std::shared_ptr<held_lock>& held : holds_)
            ++held->forces;
    }
    force_mark(const force_mark&) = delete;
    ~force_mark() {
        if (removed_)
            return;
        for (const std::shared_ptr<held_lock>& held : holds_) {
            --held->forces;
            const std::shared_ptr<held_lock> present = all_.present_hold_of(held->what);
            if (present && present != held)
                --present->forces;
        }
    }
    void removed() noexcept { removed_ = true; } ///< keeps the marks

private:
    gates& all_;
    const held_locks& holds_;
    bool removed_ = false;
};

} // namespace

asio::awaitable<bool> engine::force(lock_name name, asio::awaitable<forced> asking) {
    const held_locks before = gates_.held_under(name.text);
    force_mark mark{gates_, before};
    const bool was_locked = (co_await std::move(asking)).was_locked;
    if (!was_locked)
        co_return false;
    mark.removed();
    for (const std::shared_ptr<held_lock>& held : before) {
        const std::shared_ptr<held_lock> present = gates_.present_hold_of(held->what);
        if (present)
            hold_lost(present, event_cause::forced);
    }
    co_return true;
}

void engine::abandon(const std::shared_ptr<held_lock>& held) {
    if (held->now_in() != held_lock::phase::held)
        return;
    renewal_.abandon(*held);
    tell_of(*held, event_kind::abandoned, event_cause::none, now() - held->granted_at);
    ring_if_quiet();
}

void engine::keep_no_more(const lock_handle& ended) {
    const auto is_it = [&ended](const auto& each) { return each.get() == &ended; };
    const auto found = std::find_if(kept_.begin(), kept_.end(), is_it);
    if (found == kept_.end())
        return;
    // Keep the hold alive until the end of the function. Otherwise the destructor of the hold could
    // run while `kept_` is changed, and call this function again.
    const std::shared_ptr<lock_handle> last = std::move(*found);
    kept_.erase(found);
}

/// Returns an object that a background loop of the store owns until the loop ends. The object may
/// outlive the engine, because a user's own store may be slow, and close() does not wait for it.
std::shared_ptr<void> engine::store_at_work() {
    ++loops_;
    return {this, [alive = std::weak_ptr<void>{alive_}](engine* home) {
                if (alive.expired())
                    return;
                --home->loops_;
                home->ring_if_quiet();
            }};
}

asio::awaitable<void> engine::nap(time_point until) {
    if (stopped_)
        // Do not create an alarm, because the clock may be destroyed already.
        co_return;
    const std::unique_ptr<alarm> sleep = time().make_alarm();
    co_await nap(*sleep, until);
}

asio::awaitable<void> engine::nap(alarm& sleep, time_point until) {
    if (stopped_)
        co_return;
    const auto entry = naps_.insert(naps_.end(), &sleep);
    co_await sleep.wait_until(until);
    naps_.erase(entry);
    ring_if_quiet();
}

void engine::close(closed_handler done) {
    if (stopped_ && closers_.empty()) // otherwise some operations have not ended yet
        return run_users_own(executor(), std::move(done));
    closers_.push_back(std::move(done));
    if (!closing_.exchange(true))
        spawn(close_down());
}

asio::awaitable<void> engine::close_down() {
    fail_waiters();
    for (const std::shared_ptr<held_lock>& held : renewal_.all()) {
        held->give_up();
        tell_lost(*held, event_cause::closed);
    }
    closes_.request_stop();
    co_await wait_until_quiet(how_.close_timeout);
    if (how_.release_on_close) {
        for (const std::shared_ptr<held_lock>& held : renewal_.all()) {
            held->take_all_shares();
            release(held, release_handler{[](const failure&) {}});
        }
        co_await wait_until_quiet(how_.release_timeout);
    }
    // Delete the client's description at the server only if no lock stays held. If a lock stays
    // held, an operator may want to see which client holds the lock, or has detached the hold.
    if (renewal_.idle() && !has_detached_)
        co_await store_->depart();
    co_await stop();
    std::vector<closed_handler> done;
    done.swap(closers_);
    for (closed_handler& handler : done)
        run_users_own(executor(), std::move(handler));
}

asio::awaitable<void> engine::wait_until_quiet(duration timeout) {
    const time_point limit = later(now(), timeout);
    while (!quiet() && now() < limit)
        co_await quiet_->wait_until(limit);
}

void engine::fail_waiters() {
    while (!calls_.empty())
        calls_.front().fail({make_error_code(errc::closed), "the client was closed"},
                            event_cause::closed);
}

void engine::ring_if_quiet() {
    if (closing_ && quiet_ && quiet())
        quiet_->ring();
}

void engine::executor_ends() noexcept {
    stopped_ = true;
    if (!forked()) // after fork() a thread of the parent may have locked the mutex for ever
        executor_access_->close();
}

void engine::executor_ended() {
    if (forked())
        return; // after fork() the mutexes may be locked for ever
    let_go();
    calls_.clear(); // the threads that wait for these calls destroy them later, concurrently
    calls_count_ = 0;
    std::vector<closed_handler>{}.swap(closers_);
}

void engine::executor_gone() {
    if (forked())
        return;
    std::unique_ptr<store> last;
    {
        const std::scoped_lock guard{store_mutex_};
        last.swap(store_);
    }
    last.reset();
    around_.executor = {};
    gone_ = true;
    closed_ = true;
    executor_access_->end();
}

void engine::let_go() {
    stopped_ = true;
    renewal_.stop();
    timeouts_.stop();
    gates_.let_go();
    threads_->let_go();
    std::vector<std::shared_ptr<lock_handle>>{}.swap(kept_);
}

/// Longest time that close() waits for pending operations after it has closed the store. The
/// operations normally fail at once, but a user's own store may be slow.
constexpr duration stop_timeout{1000};

/// Longest time for which close() waits until no thread reads the user's clock, and the pause
/// between two checks.
constexpr duration clock_timeout{10'000};
constexpr duration clock_look_period{1};

/// Reads a user's clock, unless the clock is closed. The reader first increments the counter of
/// readers, and then checks whether the clock is closed. The function close() first marks the clock
/// as closed, and then checks the counter. So either the reader sees that the clock is closed, or
/// close() sees the reader.
time_point engine::users_time() const noexcept {
    ++clock_readers_;
    const time_point end = closed_at_;
    const time_point shown = end == time_point::max() ? around_.time.now() : end;
    --clock_readers_;
    return shown;
}

/// Stops using the user's clock: from now on no function of the clock is called. Waits until no
/// other thread is inside such a function.
asio::awaitable<void> engine::let_go_of_clock() {
    closed_at_ = around_.time.now();
    const time_point limit = later(closed_at_, clock_timeout);
    while (clock_readers_ > 0 && around_.time.now() < limit)
        co_await quiet_->wait_until(later(around_.time.now(), clock_look_period));
}

/// Ends all operations. Afterwards, only the completion of close() uses the executor and the clock.
asio::awaitable<void> engine::stop() {
    const time_point limit = later(now(), stop_timeout);
    let_go();
    store_->close();
    for (alarm* const sleep : naps_)
        sleep->ring();
    while (!all_ended() && now() < limit)
        co_await quiet_->wait_until(limit);
    co_await let_go_of_clock();
    renewal_.let_go_of_clock();
    timeouts_.let_go_of_clock();
    quiet_.reset();
    closed_ = true;
    executor_access_->end(); // comes last, because it wakes threads that wait for this client
}

leftovers engine::left() const {
    return {gates_.count(), calls_count_, renewal_.watched(), tasks_};
}

// The functions below decide which call of this client may send the next request; gate::admits()
// makes the decision itself. These functions run when a call arrives, gets the reply "busy" or
// ends, and when a hold ends.

void engine::admit(const std::shared_ptr<acquisition>& call, const asio::any_io_executor& where) {
    gate& here = gates_.of(key_of(*call));
    if (here.has_upgrade_against(*call)) {
        call->fail({make_error_code(errc::would_deadlock),
                    "another reader of this client waits for its own upgrade"});
    } else if (const std::shared_ptr<held_lock> shared = hold_to_share(here, *call)) {
        call->share(shared);
    } else if (here.admits(*call)) {
        here.begin_negotiation(*call);
        spawn(negotiate(call), call->wanted.of->is_joint() ? executor() : where);
    } else if (here.is_about_to_be_left()) {
        admit_later(call);
    } else if (here.is_being_left()) {
        // The call waits in the local queue until the holder's release is acknowledged, but at most
        // for the store's time limit.
        here.line_up(*call);
        tell_waiting(*call);
    } else if (!call->wanted.patient) {
        give_up_behind(*call, here);
    } else {
        here.line_up(*call);
        timeouts_.watch(*call);
        tell_waiting(*call);
    }
}

/// Admits a call after all work that is already queued on the executor. That work may include a
/// release that the same thread has just posted.
void engine::admit_later(const std::shared_ptr<acquisition>& call) {
    asio::post(executor(), [self = shared_from_this(), call] {
        if (!call->finished())
            self->admit(call, self->executor());
    });
}

// Starts the next calls of the queue. The calls do not start inside the function that ended the
// previous call: thousands of calls may fail at once, and the stack would overflow. The queue is
// looked up again after each call that shares a hold, because the handler of such a call may delete
// the queue.
void engine::next_turn(gate_key key, gate& at) {
    for (gate* here = &at; here; here = gates_.find(key)) {
        if (here->unused())
            return gates_.forget(key);
        if (stopped_ || !(let_in(*here, here->upgrade()) || let_in(*here, here->first())))
            return;
    }
}

/// Ends a call that waits behind another call and has not asked the store. The result is "busy", or
/// an error if the store does not reply to the other call.
void engine::give_up_behind(acquisition& call, const gate& here) {
    if (std::optional<failure> why = here.why_unknown(call, now()))
        return call.fail(std::move(*why));
    call.give_up_busy();
}

void engine::out_of_timeout(acquisition& call) {
    gate& here = *gates_.find(key_of(call));
    if (call.wanted.of->counts() != counter_kind::latch)
        return give_up_behind(call, here);
    timeouts_.forget(call);
    here.begin_negotiation(call);
    spawn(negotiate(call.step_out()));
}

/// Lets the first waiting call ask the store or share a hold, if `gate::admits()` allows it.
bool engine::let_in(gate& here, acquisition* next) {
    if (!next)
        return false;
    if (std::shared_ptr<held_lock> shared = hold_to_share(here, *next)) {
        const std::shared_ptr<acquisition> call = next->step_out();
        call->share(std::move(shared));
        return true;
    }
    if (!here.admits(*next))
        return false;
    timeouts_.forget(*next);
    here.begin_negotiation(*next);
    auto begin = [self = shared_from_this(), call = next->step_out()] {
        self->spawn(negotiate(call));
    };
    asio::post(executor(), std::move(begin));
    return true;
}

void engine::found_busy(acquisition& call) {
    if (!call.begins_to_wait_there())
        return;
    tell_waiting(call);
    const gate_key key = key_of(call);
    if (call.wanted.of->polls)
        gates_.forget_polled(key);  // another client had its turn
    gate& here = *gates_.find(key); // the gate exists as long as the call
    here.waits_there(call);
    next_turn(key, here);
}

void engine::released(const held_lock& held, bool others_listen) {
    const gate_key key = key_of(held.what);
    gates_.note_others(key, others_listen);
    if (held.polled_within() > duration::zero())
        gates_.note_polled(key, others_listen, held, now());
    gate* const here = gates_.find(key);
    if (here && here->holder().get() == &held)
        here->owe_courtesy(others_listen && held.handed_on > 0);
    hold_over(held);
}

void engine::detached(const held_lock& held) {
    has_detached_ = true;
    locks().detached(held.what);
    hold_over(held);
    ring_if_quiet();
}

void engine::hold_over(const held_lock& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    if (!here)
        return;
    if (here->forget_superseded(held) || here->acknowledged(held)) {
        if (here->unused())
            gates_.forget(key);
        return;
    }
    if (!here->drop(held))
        return;
    next_turn(key, *here);
}

/// Starts readers that waited behind a call that has left the queue, because they may now ask for
/// the lock or share a hold.
void engine::left_queue(const acquisition& call) {
    if (key_of(call).of != family::shared)
        return;
    auto look_again = [self = shared_from_this(), name = call.name()] {
        const gate_key key{name, family::shared};
        gate* const here = self->closing_ ? nullptr : self->gates_.find(key);
        if (here)
            self->next_turn(key, *here);
    };
    asio::post(executor(), std::move(look_again));
}

void engine::fewer_share(const held_lock& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    // Other callers still share the hold. But a call that waits for exclusive access may be able to
    // continue now.
    if (here && (here->upgrade() || queues_in_store(key.of)))
        next_turn(key, *here);
}

void engine::release_sent_off(const held_lock& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    if (!here || here->holder().get() != &held)
        return;
    here->open_behind(held);
    next_turn(key, *here);
}

// Events that the engine reports to the user's observer.

namespace {

std::int64_t microseconds(duration d) {
    return std::chrono::microseconds{d}.count();
}

/// Returns the `errc` value that is equal to the code, as a number. Returns 0 if no value is equal
/// to the code.
std::int32_t number_of(const error_code& ec) {
    const error_condition meaning = ec.default_error_condition();
    const bool ours = meaning.category() == make_error_condition(errc::closed).category();
    return ours ? meaning.value() : 0;
}

void add_failure(event& e, const error_code& code, std::string_view text) {
    e.code = number_of(code);
    e.text = text.data();
    e.text_size = text.size();
}

event event_about(std::string_view name, event_kind kind, event_cause cause, duration length) {
    event e{.kind = kind, .cause = cause};
    e.name = name.data();
    e.name_size = name.size();
    e.duration_us = microseconds(length);
    return e;
}

event event_about(const acquisition& call, event_kind kind, event_cause cause = event_cause::none) {
    event e = event_about(call.name(), kind, cause, call.home->now() - call.started_at);
    e.call_number = call.number;
    return e;
}

event event_about(const lock_handle& held, event_kind kind, event_cause cause, duration length) {
    event e = event_about(held.name(), kind, cause, length);
    e.call_number = held.call_number;
    switch (kind) {
    case event_kind::acquired:
        e.held_change = 1;
        break;
    case event_kind::released:
    case event_kind::lost:
    case event_kind::release_failed:
        e.held_change = -1;
        break;
    default:
        break;
    }
    return e;
}

} // namespace

// Reports an event to the observer. A caller's thread that runs its own operation must not call the
// observer, so its events are stored and reported later. As long as an event is stored, all later
// events are stored too, so that the observer gets them in order.
void engine::tell(const event& e) {
    if (!how_.observer)
        return;
    if (untold_.empty() && !borrowed())
        return how_.observer->notify(e);
    untold_.emplace_back(e);
    if (untold_.size() == 1)
        asio::post(executor(), [self = shared_from_this()] { self->tell_untold(); });
}

void engine::tell_untold() {
    for (; !untold_.empty(); untold_.pop_front())
        how_.observer->notify(untold_.front().view());
}

void engine::tell_of(const held_lock& held, event_kind kind, event_cause cause, duration length,
                     const boost::system::system_error* failed) {
    if (!how_.observer || (held.told_lost && kind != event_kind::lost))
        return; // no event of a hold follows its loss
    event e = event_about(held, kind, cause, length);
    e.owner_number = held.what.owner.number;
    if (failed)
        add_failure(e, failed->code(), failed->what());
    tell(e);
}

void engine::tell_of(const lock_handle& held, event_kind kind, event_cause cause, duration length,
                     const failure& why) {
    if (!how_.observer)
        return;
    event e = event_about(held, kind, cause, length);
    if (why.code)
        add_failure(e, why.code, why.text);
    tell(e);
}

void engine::tell_of_count(const acquisition& call) {
    if (how_.observer)
        tell(event_about(call, event_kind::acquired));
}

void engine::tell_waiting(acquisition& call) {
    if (!how_.observer || !call.wanted.takes || !call.wanted.patient || call.finished())
        return;
    if (call.begins_reported_wait())
        tell(event_about(call, event_kind::waiting));
}

void engine::tell_joined(const acquisition& call, const held_lock& held) {
    if (!how_.observer)
        return;
    event e = event_about(call, event_kind::joined);
    e.owner_number = held.what.owner.number;
    tell(e);
}

void engine::tell_lost(held_lock& held, event_cause why) {
    held.note_loss(why);
    if (!std::exchange(held.told_lost, true))
        tell_of(held, event_kind::lost, held.why_lost(), now() - held.granted_at);
}

void engine::tell_of_wait(const acquisition& call, event_cause cause, const failure& why) {
    if (!how_.observer || !call.wanted.takes)
        return;
    event e = event_about(call, event_kind::waited, cause);
    if (why.code)
        add_failure(e, why.code, why.text);
    tell(e);
}

} // namespace holdfast::sync
