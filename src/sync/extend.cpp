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

/// Throws what it failed with.
asio::awaitable<answer> ask_once(wire_hold& held, renewal_wishes how) {
    engine& home = *held.home;
    const time_point sent_at = home.now();
    const hold* const one[] = {&held.what};
    single_renewal outcome;
    co_await home.locks().renew(one, how, outcome);
    try {
        const answer& said = outcome.said();
        if (said.granted)
            held.extended(sent_at, said.term);
        co_return said;
    } catch (const boost::system::system_error& e) {
        if (e.code() == errc::outcome_unknown)
            held.perhaps_extended(how.lease_time);
        throw;
    }
}

/// Asks again over another connection, if there is still time when the first is given up (another
/// extension may have made some): to ask twice does not extend twice.
asio::awaitable<answer> ask_in_time(wire_hold& held, duration length) {
    engine& home = *held.home;
    const time_point limit = later(home.now(), answer_period(held.remaining()));
    renewal_wishes how{.lease_time = length, .answer_by = std::min(limit, held.ends_at())};
    try {
        co_return co_await ask_once(held, how);
    } catch (const boost::system::system_error& e) {
        const bool given_up = e.code() == errc::outcome_unknown && home.now() >= how.answer_by;
        if (!given_up || !held.believed())
            throw;
    }
    how.answer_by = held.ends_at();
    how.elsewhere = true;
    co_return co_await ask_once(held, how);
}

asio::awaitable<failure> ask_store(std::shared_ptr<wire_hold> held, duration length) {
    engine& home = *held->home;
    try {
        const answer said = co_await ask_in_time(*held, length);
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
    // A renewed hold keeps the longer of the two from now on.
    const bool renewed = held->renewed();
    held->set_lease(renewed ? std::max(held->lease(), length) : length, renewed);
    home.renewals().reschedule(*held);
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

asio::awaitable<void> run(std::shared_ptr<wire_hold> held, duration length, release_handler done) {
    const engine::task busy{*held->home};
    failure outcome;
    {
        const under_way asked{*held};
        outcome = co_await ask_store(held, length);
    }
    tell(*held->home, std::move(done), std::move(outcome));
}

} // namespace

void extend(std::shared_ptr<wire_hold> held, duration length, release_handler done) {
    const std::shared_ptr<engine> home = held->home;
    if (!held->believed() && !planted(mutant::renew_after_release))
        return tell(*home, std::move(done), gone());
    home->spawn(run(std::move(held), length, std::move(done)));
}

} // namespace holdfast::sync
