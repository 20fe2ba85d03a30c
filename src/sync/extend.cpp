// SPDX-License-Identifier: Apache-2.0
#include "sync/extend.hpp"

#include "sync/engine.hpp"
#include "sync/undo.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

failure gone() {
    return {make_error_code(errc::lease_lost), "the lease had ended"};
}

/// What is asked of the store: to keep it for so long, and that so many replicas confirm it.
struct wish {
    duration length;
    unsigned replicas;
};

/// Throws what it failed with.
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

/// Asks again over another connection, if there is still time when the first is given up (another
/// extension may have made some): to ask twice does not extend twice.
asio::awaitable<answer> ask_in_time(wire_hold& held, wish wanted) {
    engine& home = *held.home;
    const time_point limit = later(home.now(), answer_period(held.remaining()));
    renewal_wishes how{.answer_by = std::min(limit, held.ends_at())};
    try {
        co_return co_await ask_once(held, wanted, how);
    } catch (const boost::system::system_error& e) {
        const bool given_up = e.code() == errc::outcome_unknown && home.now() >= how.answer_by;
        if (!given_up || !held.believed())
            throw;
    }
    how.answer_by = held.ends_at();
    how.elsewhere = true;
    co_return co_await ask_once(held, wanted, how);
}

asio::awaitable<failure> ask_store(std::shared_ptr<wire_hold> held, wish wanted) {
    engine& home = *held->home;
    try {
        const answer said = co_await ask_in_time(*held, wanted);
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

/// While one is under way the hold is not handed on: its answer would miss the heir.
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

asio::awaitable<failure> extend_by(std::shared_ptr<wire_hold> held, duration length) {
    const failure why = co_await ask_store(held, {length, held->what.replicas});
    if (why.code)
        co_return why;
    // A renewed hold keeps the longer of the two from now on.
    const bool renewed = held->renewed();
    held->set_lease(renewed ? std::max(held->lease(), length) : length, renewed);
    held->home->renewals().reschedule(*held);
    co_return failure{};
}

/// As long as it is believed; and what is renewed, for its whole lease. What is believed was asked
/// for before, and may be more than the server of today has.
duration whole_term(const wire_hold& held) {
    const duration believed = lease_believed_for(held.remaining());
    const bool renews = held.renewed() && !held.out_of_time();
    const duration length = renews ? std::max(held.lease(), believed) : believed;
    return std::min(length, held.home->bounds().lease_max);
}

/// Somebody may extend it meanwhile, so often.
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
