// SPDX-License-Identifier: Apache-2.0
#include "sync/adoption.hpp"

#include "sync/engine.hpp"
#include "sync/held_lock.hpp"
#include "sync/retry_policy.hpp"

#include <exception>
#include <type_traits>
#include <utility>

namespace holdfast::sync {
namespace {

/// Calls `query` and returns its result. Repeats the query while the store does not reply, for at
/// most `unavailable_timeout`.
template <typename Query>
std::invoke_result_t<Query&> outlast_outage(std::shared_ptr<engine> home, Query query) {
    retry_policy trouble{*home};
    for (;;) {
        if (home->stopped())
            throw worded_error{{make_error_code(errc::closed), "the client is closed"}};
        const time_point sent_at = home->now();
        time_point again_at{};
        try {
            co_return co_await query();
        } catch (const boost::system::system_error& e) {
            again_at = trouble.next_try(e, sent_at);
        }
        co_await home->nap(again_at);
    }
}

/// Answer of the store to a transfer (change of the owner of a hold), with the time when its
/// request was sent.
struct timed_answer {
    timed_answer(time_point t, const answer& a)
        : sent_at{t}
        , said{a} {}
    time_point sent_at;
    answer said;
};

/// Adds the adopted hold to the local wait queue and to the schedule of renewals.
void begin_hold(engine& home, const std::shared_ptr<held_lock>& held) {
    gate& here = home.queues().of(key_of(held->what));
    // If this client has another hold under the same name, check whether that hold is lost, because
    // the store has granted the lock to the ticket's owner.
    if (!many_hold(held->what.kind))
        here.revalidate_holder();
    here.enter(held);
    home.renewals().watch(held);
}

/// Returns whether this error of a request means that the store has certainly changed nothing; see
/// `lock_store`.
bool changed_nothing(const error_code& failure) {
    return failure == errc::unreachable || failure == errc::refused ||
           failure == errc::overloaded || failure == errc::closed;
}

/// State of one adoption: the new owner `to` takes over the hold of a ticket.
struct adoption {
    std::shared_ptr<const lock_descriptor> of;
    ticket from;
    owner_id to;
    bool may_be_moved = false; ///< true: the store may have given the hold to `to`

    hold held_by(const owner_id& owner) const {
        hold what{of->name, owner, of->kind};
        what.permits = from.permits;
        what.replicas = of->replicas;
        return what;
    }
};

/// Sends one request that gives the hold to the new owner.
asio::awaitable<timed_answer> transfer_once(adoption& mine) {
    engine& home = *mine.of->home;
    const time_point sent_at = home.now();
    answer said;
    try {
        said =
            co_await home.locks().transfer(mine.held_by(mine.from.owner), mine.to, mine.of->lease);
    } catch (const boost::system::system_error& e) {
        mine.may_be_moved = mine.may_be_moved || !changed_nothing(e.code());
        throw;
    }
    mine.may_be_moved = said.granted;
    co_return timed_answer{sent_at, said};
}

/// Takes over the ticket's hold. Throws if the caller cannot get the hold.
asio::awaitable<std::shared_ptr<held_lock>> take_over(adoption& mine) {
    const std::shared_ptr<engine> home = mine.of->home;
    auto send = [&mine] { return transfer_once(mine); };
    asio::awaitable<timed_answer> transferred = outlast_outage(home, std::move(send));
    const timed_answer got = co_await std::move(transferred);
    if (!got.said.granted)
        throw worded_error{{make_error_code(errc::lease_lost),
                            "the owner in the ticket does not hold the lock any more"}};
    if (home->closing())
        throw worded_error{{make_error_code(errc::closed), "the client is closed"}};
    request wanted = request_for(mine.of, duration::zero(), std::nullopt);
    wanted.amount = mine.from.permits;
    const grant granted{mine.to, got.sent_at, got.said.term, mine.from.token, 1, time_point::min()};
    auto held = std::make_shared<held_lock>(wanted, granted);
    if (home->now() >= held->ends_at())
        throw worded_error{{make_error_code(errc::lease_lost),
                            "the reply to the adoption took longer than the lease"}};
    held->round_trip = held->granted_at - got.sent_at;
    co_return held;
}

/// Cleans up after a failed adoption: releases the hold that the store may have given to the new
/// owner. If this release fails, the lock stays held until its lease ends.
asio::awaitable<void> release_unwanted(const adoption& mine) {
    try {
        co_await mine.of->home->locks().release(mine.held_by(mine.to));
    } catch (const boost::system::system_error&) {
        co_return;
    }
}

} // namespace

asio::awaitable<std::shared_ptr<lock_handle>> adopt(std::shared_ptr<const lock_descriptor> of,
                                                    ticket from) {
    const std::shared_ptr<engine> home = of->home;
    const engine::task busy{*home};
    const time_point started_at = home->now();
    const std::size_t revalidations = home->renewals().revalidations();
    const owner_id to = home->new_owner_id(from.permits);
    adoption mine{std::move(of), std::move(from), to};
    std::shared_ptr<held_lock> held;
    std::exception_ptr failure;
    try {
        held = co_await take_over(mine);
    } catch (const boost::system::system_error&) {
        failure = std::current_exception();
    }
    if (failure && mine.may_be_moved)
        co_await release_unwanted(mine);
    if (failure)
        std::rethrow_exception(failure);
    held->call_number = next_call_number(*home);
    begin_hold(*home, held);
    if (home->renewals().revalidations() != revalidations)
        home->renewals().request_soon(*held);
    home->tell_of(*held, event_kind::acquired, event_cause::none, home->now() - started_at);
    co_return held;
}

asio::awaitable<bool> renew_detached(std::shared_ptr<engine> home, hold what, duration length) {
    const engine::task busy{*home};
    auto send = [&home, &what, length]() -> asio::awaitable<bool> {
        const hold* const only = &what;
        const renewal_options how{.lease_time = length};
        single_renewal told;
        co_await home->locks().renew(hold_list{&only, 1}, how, told);
        co_return told.said().granted;
    };
    asio::awaitable<bool> renewed = outlast_outage(home, std::move(send));
    co_return co_await std::move(renewed);
}

asio::awaitable<bool> release_detached(std::shared_ptr<engine> home, hold what) {
    const engine::task busy{*home};
    bool uncertain = false; // true: the store may have executed an earlier request
    auto send = [&home, &what, &uncertain]() -> asio::awaitable<bool> {
        try {
            const release_answer said = co_await home->locks().release(what);
            co_return said.was_ours || uncertain;
        } catch (const boost::system::system_error& e) {
            uncertain = uncertain || e.code() == errc::outcome_unknown;
            throw;
        }
    };
    asio::awaitable<bool> released = outlast_outage(home, std::move(send));
    co_return co_await std::move(released);
}

} // namespace holdfast::sync
