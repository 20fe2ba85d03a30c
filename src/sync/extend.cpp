// SPDX-License-Identifier: Apache-2.0
#include "sync/extend.hpp"

#include "sync/engine.hpp"
#include "sync/undo.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::sync {
namespace {

failure gone() {
    return {make_error_code(errc::lease_lost), "the lease had ended"};
}

/// Content of a request: the length of the lease, and the number of replicas that must confirm it.
struct wish {
    duration length;
    unsigned replicas;
};

/// Sends one request and returns the reply. Throws the error of the request.
asio::awaitable<answer> ask_once(wire_hold& held, wish wanted, renewal_wishes how) {
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

/// Guard of an extension. It keeps the hold from being passed to another call meanwhile. Otherwise
/// the reply would not reach the new holder.
class under_way {
public:
    explicit under_way(wire_hold& held)
        : held_{held} {
        ++held_.extensions;
    }
    under_way(const under_way&) = delete;
    ~under_way() { --held_.extensions; }

private:
    wire_hold& held_;
};

/// The concurrent requests of one extension. The first reply decides the result, but every reply
/// extends the hold.
struct tries {
    explicit tries(engine& home)
        : wake{home.time().make_alarm()} {}
    std::unique_ptr<alarm> wake; ///< null when no caller waits any more
    std::optional<answer> said{};
    std::optional<boost::system::system_error> failed{}; ///< the latest failure
    int pending = 0;
};

asio::awaitable<void> ask_beside(std::shared_ptr<wire_hold> held, wish wanted, renewal_wishes how,
                                 std::shared_ptr<tries> all) {
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

/// Maximal number of requests for one extension.
constexpr int tries_max = 3;

/// Waits for the first reply, until the given time or until the hold expires. The expiry may move
/// meanwhile.
asio::awaitable<void> await_answer(const wire_hold& held, tries& all, time_point until) {
    engine& home = *held.home;
    while (!all.said && all.pending > 0 && !home.stopped()) {
        const time_point limit = std::min(until, held.ends_at());
        if (home.now() >= limit)
            break;
        co_await home.nap(*all.wake, limit);
    }
}

/// Asks the store to extend the hold. If no reply comes in time, it sends a second request over
/// another connection, concurrently. Repeating the request is harmless, because two requests do not
/// extend the hold twice.
asio::awaitable<answer> ask_in_time(std::shared_ptr<wire_hold> held, wish wanted) {
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
        // A request gives up at its deadline `answer_by`. If another extension has moved the expiry
        // meanwhile, there is time for one more request.
        const bool given_up =
            all->failed && all->failed->code() == errc::outcome_unknown && home.now() >= answer_by;
        const bool over = all->pending == 0 && !given_up;
        if (all->said || over || is_last || !held->believed() || home.stopped())
            break;
    }
    all->wake.reset();
    if (all->said)
        co_return *all->said;
    if (all->failed)
        throw boost::system::system_error{*all->failed};
    throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
}

asio::awaitable<failure> ask_store(std::shared_ptr<wire_hold> held, wish wanted) {
    engine& home = *held->home;
    try {
        const answer said = co_await ask_in_time(held, wanted);
        if (!said.granted) {
            home.hold_lost(held, event_cause::refused);
            co_return gone();
        }
    } catch (const boost::system::system_error& e) {
        release_late_remains(held);
        co_return held->believed() ? failure{e.code(), e.what()} : gone();
    }
    if (!held->believed()) {
        release_late_remains(held);
        co_return gone();
    }
    co_return failure{};
}

asio::awaitable<failure> extend_by(std::shared_ptr<wire_hold> held, duration length) {
    const failure why = co_await ask_store(held, {length, held->what.replicas});
    if (why.code)
        co_return why;
    // A renewed hold keeps the longer of the two leases from now on.
    const bool renewed = held->renewed();
    held->set_lease(renewed ? std::max(held->lease(), length) : length, renewed);
    held->home->renewals().reschedule(*held);
    co_return failure{};
}

/// Returns the lease that the replicas are asked to confirm. It is the remaining time of the hold.
/// For a renewed hold it is the whole lease if that is longer. It is at most what the server allows
/// now.
duration whole_term(const wire_hold& held) {
    const duration believed = lease_believed_for(held.remaining());
    const bool renews = held.renewed() && !held.out_of_time();
    const duration length = renews ? std::max(held.lease(), believed) : believed;
    return std::min(length, held.home->bounds().lease_max);
}

/// Maximal number of requests to have a hold confirmed. A concurrent extension makes another
/// request necessary.
constexpr int confirmations_max = 5;

asio::awaitable<failure> confirm_by(std::shared_ptr<wire_hold> held, unsigned replicas) {
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

asio::awaitable<void> run(std::shared_ptr<wire_hold> held, asio::awaitable<failure> work,
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

void extend(std::shared_ptr<wire_hold> held, duration length, release_handler done) {
    const std::shared_ptr<engine> home = held->home;
    if (!held->believed())
        return tell(*home, std::move(done), gone());
    home->spawn(run(held, extend_by(held, length), std::move(done)));
}

void confirm(std::shared_ptr<wire_hold> held, unsigned replicas, release_handler done) {
    const std::shared_ptr<engine> home = held->home;
    if (!held->believed())
        return tell(*home, std::move(done), gone());
    home->spawn(run(held, confirm_by(held, replicas), std::move(done)));
}

} // namespace holdfast::sync
