// SPDX-License-Identifier: Apache-2.0
#include "config/validation.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"
#include "front/requests.hpp"

#include <holdfast/basic_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <cassert>
#include <functional>

namespace holdfast {
namespace {

using front::this_thread_entry;
using sync::thread_table;

/// Locks a lock again that this thread already holds.
void enter_again(const sync::lock_descriptor& lock, const thread_table::entry& mine,
                 const detail::acquire_options& how) {
    if (!mine.hold->is_valid())
        throw front::worded_error{{make_error_code(errc::lease_lost),
                                   "this thread held the lock and lost it; unlock() it first"}};
    if (mine.hold->kind() != lock.kind)
        throw front::worded_error{{make_error_code(errc::already_held),
                                   "this thread holds the lock of that name as another type"}};
    if (lock.again == recursion::refused)
        throw front::worded_error{{make_error_code(errc::already_held),
                                   "this thread holds the lock, and a mutex is not recursive"}};
    if (lock.replicas > 0 && mine.hold->replicas() < lock.replicas)
        front::confirm(mine.hold, lock.replicas);
    if (how.lease) {
        const duration length = front::wanted_lease(lock, how).value();
        if (mine.hold->remaining() < length)
            front::extend(mine.hold, length);
    } else if (!mine.hold->renewed()) {
        auto renew = [held = mine.hold, length = lock.lease] { held->renew_from_now_on(length); };
        (void)lock.home->executor_access().post(std::move(renew));
    }
    lock.home->threads()->enter_again(lock.entry(), lock.way());
}

void report_misuse(const std::shared_ptr<sync::lock_descriptor>& lock) {
    auto tell = [lock] {
        lock->home->tell({.kind = event_kind::misuse,
                          .name = lock->name.text.data(),
                          .name_size = lock->name.text.size(),
                          .code = static_cast<std::int32_t>(errc::not_owner)});
    };
    (void)lock->home->executor_access().post(std::move(tell));
}

} // namespace

basic_mutex::basic_mutex(client& home, lock_name name, const detail::lock_setup& how)
    : lock_{front::make_descriptor(home.engine(), name, how)} {}

basic_mutex::basic_mutex(std::shared_ptr<sync::lock_descriptor> lock)
    : lock_{std::move(lock)} {}

basic_mutex::~basic_mutex() = default;

bool basic_mutex::take(detail::acquire_options how) {
    // Keep a copy of the descriptor during the wait. While the program exits, a static lock object
    // may be destroyed although a thread still waits here.
    const std::shared_ptr<sync::lock_descriptor> lock = lock_;
    const std::shared_ptr<sync::engine>& home = lock->home;
    if (home->forked())
        throw front::worded_error{front::forked()};
    if (home->stopped())
        throw front::worded_error{front::closed()};
    const thread_table::entry mine = this_thread_entry(*lock);
    if (mine.count > 0) {
        enter_again(*lock, mine, how);
        return true;
    }
    front::throw_if(front::objection_to_blocking(*lock));
    lock->refuse_parts_of_this_thread();
    sync::request what = front::request_for(lock, how);
    front::stand_beside_own_hold(what, how.upgrades);
    std::shared_ptr<sync::lock_handle> held = front::acquire(std::move(what), how.cancel);
    if (!held)
        return false;
    lock->lend_parts(*held);
    home->threads()->add(std::move(held), lock->way());
    return true;
}

void basic_mutex::unlock() noexcept {
    error_code ec;
    unlock(ec); // the observer receives all errors
    assert(ec != errc::not_owner && "unlock() of a lock that this thread does not hold");
}

void basic_mutex::unlock(error_code& ec) noexcept {
    const std::shared_ptr<sync::engine>& home = lock_->home;
    if (home->forked()) {
        ec = make_error_code(errc::forked);
        return;
    }
    thread_table::entry before = home->threads()->leave(lock_->entry(), lock_->way());
    if (before.count == 0) {
        ec = make_error_code(home->stopped() ? errc::closed : errc::not_owner);
        if (ec == errc::not_owner)
            report_misuse(lock_);
    } else if (before.count > 1) {
        ec = before.hold->is_valid() ? error_code{} : make_error_code(errc::lease_lost);
    } else {
        lock_->take_back_parts();
        lease{std::move(before.hold)}.unlock(ec);
    }
}

bool basic_mutex::is_held_by_this_thread() const {
    return hold_count() > 0;
}

std::size_t basic_mutex::hold_count() const {
    if (lock_->home->forked())
        return 0;
    const thread_table::entry mine = this_thread_entry(*lock_);
    return mine.count > 0 && mine.hold->is_valid() ? mine.count : 0;
}

// Asynchronous functions of `basic_mutex`, and functions of `basic_mutex` that ask the store about
// the lock.

namespace {

using shared_lock_handle = std::shared_ptr<sync::lock_handle>;
using shared_descriptor = std::shared_ptr<sync::lock_descriptor>;

lease lease_of(shared_lock_handle held) {
    return held ? lease{std::move(held)} : lease{};
}

std::optional<lease> maybe_lease_of(shared_lock_handle held) {
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

template <typename Handler, typename Wrap>
void start_call(const shared_descriptor& lock, const detail::acquire_options& how, Handler handler,
                Wrap wrap, const std::optional<shared_lock_handle>& beside = {}) {
    const std::shared_ptr<sync::engine>& home = lock->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec, wrap(nullptr));
    auto deliver = [wrap](front::awaited<Handler>& waiting, sync::outcome got) {
        waiting.complete(got.why.code, wrap(std::move(got.held)));
    };
    front::start_call(home, std::move(handler), deliver, [&] {
        sync::request what = front::request_for(lock, how); // throws if the lease is out of range
        if (beside)
            front::stand_beside(what, *beside);
        return what;
    });
}

asio::awaitable<bool> is_locked_at(shared_descriptor lock) {
    const std::optional<holding> found = co_await lock->inspect();
    co_return found.has_value();
}

asio::awaitable<std::optional<duration>> remaining_at(shared_descriptor lock) {
    const std::optional<holding> found = co_await lock->inspect();
    if (!found)
        co_return std::nullopt;
    co_return found->remaining.value_or(duration::max());
}

asio::awaitable<bool> force_at(shared_descriptor lock) {
    const std::function<asio::awaitable<bool>()> force = lock->forcing();
    co_return co_await force();
}

/// Waits for the store's reply to a query about a lock. The lock may consist of several locks.
template <typename T>
T wait_for(const shared_descriptor& lock, asio::awaitable<T> answer) {
    front::throw_if(front::objection_to_blocking(*lock));
    return front::wait_for(lock->home, std::move(answer));
}
/// Waits for the result of a query. During a failover, the query is repeated.
template <typename Query>
auto wait_for_query(const shared_descriptor& lock, Query query) {
    front::throw_if(front::objection_to_blocking(*lock));
    return front::wait_for_query(lock->home, [lock, query] { return query(lock); });
}

} // namespace

void basic_mutex::start_lock(shared_descriptor lock, detail::acquire_options how,
                             detail::lease_handler handler) {
    start_call(lock, how, std::move(handler), lease_of);
}

void basic_mutex::start_try_lock(shared_descriptor lock, detail::acquire_options how,
                                 detail::maybe_lease_handler handler) {
    start_call(lock, how, std::move(handler), maybe_lease_of);
}

void basic_mutex::start_lock_beside(shared_descriptor lock, shared_lock_handle held,
                                    detail::acquire_options how, detail::lease_handler handler) {
    start_call(lock, how, std::move(handler), lease_of, std::move(held));
}

void basic_mutex::start_try_lock_beside(shared_descriptor lock, shared_lock_handle held,
                                        detail::acquire_options how,
                                        detail::maybe_lease_handler handler) {
    start_call(lock, how, std::move(handler), maybe_lease_of, std::move(held));
}

void basic_mutex::start_share(shared_descriptor lock, shared_lock_handle outer,
                              detail::lease_handler handler) {
    if (const error_code ec = front::objection_to_posting(*lock->home))
        return front::complete_elsewhere(std::move(handler), ec, lease{});
    auto share = [lock, outer = std::move(outer),
                  waiting = front::awaited{std::move(handler), lock->home->executor()}]() mutable {
        error_code ec;
        if (!outer || outer->home != lock->home || outer->entry() != lock->entry() ||
            outer->kind() != lock->kind)
            ec = make_error_code(errc::not_owner);
        else if (lock->again == recursion::refused)
            ec = make_error_code(errc::already_held);
        else if (!outer->share())
            ec = make_error_code(errc::lease_lost);
        if (ec)
            return waiting.complete(ec, lease{});
        const shared_lock_handle whole = outer->whole();
        lease inner{std::move(outer)};
        if (whole->replicas() >= lock->replicas)
            return waiting.complete(ec, std::move(inner));
        auto done = [waiting = std::move(waiting),
                     inner = std::move(inner)](const sync::failure& why) mutable {
            lease got = why.code ? lease{} : std::move(inner);
            waiting.complete(why.code, std::move(got));
        };
        whole->confirm(lock->replicas, sync::release_handler{std::move(done)});
    };
    asio::post(lock->home->executor(), std::move(share));
}

bool basic_mutex::is_locked() const {
    return wait_for_query(lock_, is_locked_at);
}

std::optional<duration> basic_mutex::remaining_lease() const {
    return wait_for_query(lock_, remaining_at);
}

bool basic_mutex::force_unlock() {
    return wait_for(lock_, sync::force_through_failover(lock_));
}

void basic_mutex::start_is_locked(shared_descriptor lock,
                                  asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(lock->home, is_locked_at(lock), std::move(handler));
}

void basic_mutex::start_remaining_lease(
    shared_descriptor lock,
    asio::any_completion_handler<void(error_code, std::optional<duration>)> handler) {
    front::start(lock->home, remaining_at(lock), std::move(handler));
}

void basic_mutex::start_force_unlock(shared_descriptor lock,
                                     asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(lock->home, force_at(lock), std::move(handler));
}

namespace {

asio::awaitable<std::uint64_t> last_token_at(std::shared_ptr<sync::lock_descriptor> lock) {
    co_return co_await lock->home->operators_view().last_token(lock->name);
}

} // namespace

fenced_mutex::fenced_mutex(client& home, lock_name name, fenced_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::fenced,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .numbers = how.numbers,
                   .replicas = how.required_replicas}} {}

std::uint64_t fenced_mutex::fencing_token() const noexcept {
    if (lock_descriptor()->home->forked())
        return 0;
    const sync::thread_table::entry mine = front::this_thread_entry(*lock_descriptor());
    return mine.count > 0 ? mine.hold->token() : 0;
}

std::uint64_t fenced_mutex::last_token() const {
    return front::wait_for_query(lock_descriptor()->home,
                                 [lock = lock_descriptor()] { return last_token_at(lock); });
}

void fenced_mutex::start_last_token(
    std::shared_ptr<sync::lock_descriptor> lock,
    asio::any_completion_handler<void(error_code, std::uint64_t)> handler) {
    front::start(lock->home, last_token_at(lock), std::move(handler));
}

spin_mutex::spin_mutex(client& home, lock_name name, spin_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::spin,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .polls = checked_backoff(how.polls),
                   .replicas = how.required_replicas}} {}

token_mutex::token_mutex(client& home, lock_name name, token_options how)
    : basic_mutex{home,
                  std::move(name),
                  {.kind = lock_kind::token,
                   .lease = how.lease,
                   .again = how.again,
                   .deferred = how.deferred,
                   .replicas = how.required_replicas}} {}

} // namespace holdfast
