// SPDX-License-Identifier: Apache-2.0
#include "sync/engine.hpp"

#include "sync/release.hpp"
#include "sync/undo.hpp"
#include "sync/users_own.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

/// Returns a new client identity: a UUID of version 8 (the version for custom layouts). Its third
/// group identifies holdfast. So scripts and people can tell holders of holdfast from holders of a
/// JVM, whose UUIDs have version 4.
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

/// Abandons a hold on the executor. The thread that held it is ending.
void abandon_later(std::shared_ptr<tenure> held) {
    const std::shared_ptr<engine> home = held->home;
    auto abandon = [held = std::move(held)] { held->abandon(); };
    (void)home->reach().post(std::move(abandon));
}

/// Returns how long the store must remember a request that changes a counter. The engine repeats a
/// request for at most half of that time: `unavailable_patience` and one last attempt. The default
/// of `unavailable_patience` depends on the store. It is not known here, because the store is
/// created with this value, so 30 s are assumed.
duration request_memory(const options& how) {
    constexpr duration least = std::chrono::minutes{1}, most = std::chrono::hours{24};
    constexpr duration longest_usual_outage = std::chrono::seconds{30};
    const duration outage = how.unavailable_patience.value_or(longest_usual_outage);
    const duration repeated = std::min(outage, most) + 2 * std::min(how.release_patience, most);
    return std::max(least, 2 * repeated);
}

} // namespace

engine::engine(surroundings around, options how)
    : around_{std::move(around)}
    , how_{std::move(how)}
    , identity_{new_identity(how_.random)}
    , threads_{std::make_shared<thread_table>(abandon_later, around_.forked)}
    , reach_{std::make_shared<sync::reach>(around_.executor, around_.own_thread)}
    , renewal_{*this}
    , patience_{*this}
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
        .doubt = [this](const auto& which, bool urgent) { doubt(which, urgent); },
        .holds_any = [this] { return renewal_.watched() > 0; },
        .request_memory = request_memory(how_),
        .at_work = [this] { return store_at_work(); },
        .post = [way = reach_](auto work) { return way->post_from_afar(std::move(work)); }});
    bounds_ = store_->locks().bounds();
    unavailable_patience_ = how_.unavailable_patience.value_or(bounds_.usual_outage);
}

engine::~engine() = default;

void engine::doubt(const std::function<bool(const lock_name&)>& which, bool urgent) {
    renewal_.doubt(which, urgent);
}

owner_id engine::next_owner(std::uint32_t numbers) {
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
    patience_.forget(call);
    if (!call.is_under_way())
        return;
    call.end();
    --calls_count_;
}

void engine::hold_lost(std::shared_ptr<wire_hold> held, event_cause why) {
    // A borrowed thread (a caller's thread that runs the operation itself) must not run the user's
    // stop callbacks.
    if (borrowed()) {
        auto later = [self = shared_from_this(), held = std::move(held), why] {
            self->hold_lost(held, why);
        };
        return asio::post(executor(), std::move(later));
    }
    renewal_.forget(*held);
    if (held->lose()) {
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

asio::awaitable<bool> engine::force(lock_name name, asio::awaitable<forced> asking) {
    const std::vector<std::shared_ptr<wire_hold>> before = gates_.held_under(name.text);
    const bool was_locked = (co_await std::move(asking)).was_locked;
    if (!was_locked)
        co_return false;
    for (const std::shared_ptr<wire_hold>& held : before) {
        const std::shared_ptr<wire_hold> heir = gates_.heir_of(held->what);
        if (heir)
            hold_lost(heir, event_cause::forced);
    }
    co_return true;
}

void engine::abandon(const std::shared_ptr<wire_hold>& held) {
    if (held->now_in() != wire_hold::phase::held)
        return;
    renewal_.abandon(*held);
    tell_of(*held, event_kind::abandoned, event_cause::none, now() - held->granted_at);
    ring_if_quiet();
}

void engine::keep_no_more(const tenure& ended) {
    const auto is_it = [&ended](const auto& each) { return each.get() == &ended; };
    const auto found = std::find_if(kept_.begin(), kept_.end(), is_it);
    if (found == kept_.end())
        return;
    // Destroyed at the end of the function, because the destructor of a hold may call this
    // function.
    const std::shared_ptr<tenure> last = std::move(*found);
    kept_.erase(found);
}

/// Returns a token for a background loop of the store. The loop keeps the token until it ends. A
/// user's own store may be too slow for close(), so the token may outlive the engine.
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
        // Create no alarm, because the clock may be destroyed already.
        co_return;
    const std::unique_ptr<alarm> sleep = time().make_alarm();
    co_await nap(*sleep, until);
}

asio::awaitable<void> engine::nap(alarm& sleep, time_point until) {
    if (stopped_)
        co_return;
    naps_.insert(&sleep);
    co_await sleep.wait_until(until);
    naps_.erase(&sleep);
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
    for (const std::shared_ptr<wire_hold>& held : renewal_.all()) {
        held->give_up();
        tell_lost(*held, event_cause::closed);
    }
    closes_.request_stop();
    co_await wait_until_quiet(how_.close_patience);
    if (how_.release_on_close) {
        for (const std::shared_ptr<wire_hold>& held : renewal_.all()) {
            held->take_all_shares();
            release(held, release_handler{[](const failure&) {}});
        }
        co_await wait_until_quiet(how_.release_patience);
    }
    // If locks stay held, an operator may want to see the client that holds them.
    if (renewal_.idle())
        co_await store_->depart();
    co_await stop();
    std::vector<closed_handler> done;
    done.swap(closers_);
    for (closed_handler& handler : done)
        run_users_own(executor(), std::move(handler));
}

asio::awaitable<void> engine::wait_until_quiet(duration patience) {
    const time_point limit = later(now(), patience);
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
        reach_->close();
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
    reach_->end();
}

void engine::let_go() {
    stopped_ = true;
    renewal_.stop();
    patience_.stop();
    gates_.let_go();
    threads_->let_go();
    std::vector<std::shared_ptr<tenure>>{}.swap(kept_);
}

/// Time that close() waits for pending operations after it has closed the store. They normally fail
/// at once, but a user's own store may be slow.
constexpr duration stop_patience{1000};

/// Time that close() waits for a thread inside a user's clock, and the pause between two checks.
constexpr duration clock_patience{10'000};
constexpr duration clock_look_period{1};

/// Reads a user's clock, unless the clock is closed. The reader increments the counter of readers
/// first, and then checks whether the clock is closed. Close marks the clock as closed first, and
/// then checks the counter. So at least one of the two notices the other.
time_point engine::users_time() const noexcept {
    ++clock_readers_;
    const time_point end = closed_at_;
    const time_point shown = end == time_point::max() ? around_.time.now() : end;
    --clock_readers_;
    return shown;
}

/// Stops reading the user's clock. Waits until no other thread is inside the clock.
asio::awaitable<void> engine::let_go_of_clock() {
    closed_at_ = around_.time.now();
    const time_point limit = later(closed_at_, clock_patience);
    while (clock_readers_ > 0 && around_.time.now() < limit)
        co_await quiet_->wait_until(later(around_.time.now(), clock_look_period));
}

/// Ends all operations. Afterwards only the completion of close() uses the executor or the clock.
asio::awaitable<void> engine::stop() {
    const time_point limit = later(now(), stop_patience);
    let_go();
    store_->close();
    for (alarm* const sleep : naps_)
        sleep->ring();
    while (!all_ended() && now() < limit)
        co_await quiet_->wait_until(limit);
    co_await let_go_of_clock();
    renewal_.let_go_of_clock();
    patience_.let_go_of_clock();
    quiet_.reset();
    closed_ = true;
    reach_->end(); // last, because it wakes threads that wait for this client
}

residue engine::left() const {
    return {gates_.count(), calls_count_, renewal_.watched(), tasks_};
}

} // namespace holdfast::sync
