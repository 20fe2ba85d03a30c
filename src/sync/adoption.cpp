// SPDX-License-Identifier: Apache-2.0
#include "sync/adoption.hpp"

#include "sync/engine.hpp"
#include "sync/held_lock.hpp"
#include "sync/retry_policy.hpp"

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

/// Answer to a transfer, with the time when its request was sent.
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
    // The store has granted the lock to the ticket's owner, so another hold of this client under
    // the same name must be checked.
    if (!many_hold(held->what.kind))
        here.revalidate_holder();
    here.enter(held);
    home.renewals().watch(held);
}

} // namespace

asio::awaitable<std::shared_ptr<lock_handle>> adopt(std::shared_ptr<const lock_descriptor> of,
                                                    ticket from) {
    const std::shared_ptr<engine> home = of->home;
    const engine::task busy{*home};
    const time_point started_at = home->now();
    hold old{of->name, from.owner, of->kind};
    old.permits = from.permits;
    old.replicas = of->replicas;
    const owner_id to = home->new_owner_id(from.permits);
    const std::size_t revalidations = home->renewals().revalidations();
    auto send = [&home, &old, &of, to]() -> asio::awaitable<timed_answer> {
        const time_point sent_at = home->now();
        const answer said = co_await home->locks().transfer(old, to, of->lease);
        co_return timed_answer{sent_at, said};
    };
    asio::awaitable<timed_answer> transferred = outlast_outage(home, std::move(send));
    const timed_answer got = co_await std::move(transferred);
    if (!got.said.granted)
        throw worded_error{{make_error_code(errc::lease_lost),
                            "the owner in the ticket does not hold the lock any more"}};
    if (home->closing())
        throw worded_error{{make_error_code(errc::closed), "the client is closed"}};
    request wanted = request_for(of, duration::zero(), std::nullopt);
    wanted.amount = from.permits;
    const grant granted{to, got.sent_at, got.said.term, from.token, 1, time_point::min()};
    const auto held = std::make_shared<held_lock>(wanted, granted);
    if (home->now() >= held->ends_at())
        throw worded_error{{make_error_code(errc::lease_lost),
                            "the reply to the adoption took longer than the lease"}};
    held->round_trip = held->granted_at - got.sent_at;
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
