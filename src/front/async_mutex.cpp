// SPDX-License-Identifier: Apache-2.0
// Asynchronous functions of basic_mutex, and its functions that ask the store.
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/sides.hpp"
#include "front/wish.hpp"

#include <holdfast/basic_mutex.hpp>

namespace holdfast {
namespace {

using shared_tenure = std::shared_ptr<sync::tenure>;
using shared_subject = std::shared_ptr<sync::subject>;

lease lease_of(shared_tenure held) {
    return held ? lease{std::move(held)} : lease{};
}

std::optional<lease> maybe_lease_of(shared_tenure held) {
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

template <typename Handler, typename Wrap>
void start_call(const shared_subject& lock, const detail::wish& how, Handler handler, Wrap wrap,
                const std::optional<shared_tenure>& beside = {}) {
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

asio::awaitable<bool> is_locked_at(shared_subject lock) {
    const std::optional<holding> found = co_await lock->inspect();
    co_return found.has_value();
}

asio::awaitable<std::optional<duration>> remaining_at(shared_subject lock) {
    const std::optional<holding> found = co_await lock->inspect();
    if (!found)
        co_return std::nullopt;
    co_return found->remaining.value_or(duration::max());
}

asio::awaitable<bool> force_at(shared_subject lock) {
    co_return co_await lock->force();
}

/// Waits for the store's reply about a lock, which may consist of several locks.
template <typename T>
T wait_for(const shared_subject& lock, asio::awaitable<T> answer) {
    front::throw_if(front::objection_to_blocking(*lock));
    return front::wait_for(lock->home, std::move(answer));
}

} // namespace

void basic_mutex::start_lock(shared_subject lock, detail::wish how, detail::lease_handler handler) {
    start_call(lock, how, std::move(handler), lease_of);
}

void basic_mutex::start_try_lock(shared_subject lock, detail::wish how,
                                 detail::maybe_lease_handler handler) {
    start_call(lock, how, std::move(handler), maybe_lease_of);
}

void basic_mutex::start_lock_beside(shared_subject lock, shared_tenure held, detail::wish how,
                                    detail::lease_handler handler) {
    start_call(lock, how, std::move(handler), lease_of, std::move(held));
}

void basic_mutex::start_try_lock_beside(shared_subject lock, shared_tenure held, detail::wish how,
                                        detail::maybe_lease_handler handler) {
    start_call(lock, how, std::move(handler), maybe_lease_of, std::move(held));
}

void basic_mutex::start_share(shared_subject lock, shared_tenure outer,
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
        const shared_tenure whole = outer->whole();
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
    return wait_for(lock_, is_locked_at(lock_));
}

std::optional<duration> basic_mutex::remaining_lease() const {
    return wait_for(lock_, remaining_at(lock_));
}

bool basic_mutex::force_unlock() {
    return wait_for(lock_, force_at(lock_));
}

void basic_mutex::start_is_locked(shared_subject lock,
                                  asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(lock->home, is_locked_at(lock), std::move(handler));
}

void basic_mutex::start_remaining_lease(
    shared_subject lock,
    asio::any_completion_handler<void(error_code, std::optional<duration>)> handler) {
    front::start(lock->home, remaining_at(lock), std::move(handler));
}

void basic_mutex::start_force_unlock(shared_subject lock,
                                     asio::any_completion_handler<void(error_code, bool)> handler) {
    front::start(lock->home, force_at(lock), std::move(handler));
}

} // namespace holdfast
