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

asio::awaitable<failure> ask_store(std::shared_ptr<wire_hold> held, duration length) {
    engine& home = *held->home;
    const time_point sent_at = home.now();
    const hold* const one[] = {&held->what};
    try {
        const renewal_wishes how{.lease_time = length};
        single_renewal outcome;
        co_await home.locks().renew(one, how, outcome);
        if (!outcome.said().granted) {
            home.hold_lost(held, event_cause::refused);
            co_return gone();
        }
        held->extend(sent_at, outcome.said().term);
    } catch (const boost::system::system_error& e) {
        if (e.code() == errc::outcome_unknown)
            perhaps_extended(held, length);
        co_return failure{e.code(), e.what()};
    }
    if (!held->believed())
        co_return gone();
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
