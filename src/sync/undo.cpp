// SPDX-License-Identifier: Apache-2.0
#include "sync/undo.hpp"

#include "sync/engine.hpp"
#include "sync/outage.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

/// When a hold granted at `at` is gone from the store by itself.
time_point gone_after(time_point at, duration lease) {
    return later(at, lease + margin(lease));
}

/// Whether it is known that nothing is left.
asio::awaitable<bool> leave(place& spot) {
    try {
        co_await spot.leave();
        co_return true;
    } catch (const boost::system::system_error&) {
        co_return false;
    }
}

/// Repeats `release` until the store has answered, or until `gone_at`, when there is nothing left
/// to release. Any error but silence ends it too: the lease does the rest.
asio::awaitable<void> release_until(engine& home, hold what, time_point gone_at) {
    pauses pause{home};
    while (home.now() < gone_at && !home.stopped()) {
        try {
            (void)co_await home.locks().release(what);
            co_return;
        } catch (const boost::system::system_error& e) {
            if (!may_pass(e.code()))
                co_return;
        }
        co_await home.nap(std::min(gone_at, later(home.now(), pause.next())));
    }
}

/// What is undone. The place may ring the alarm, so it goes first.
struct abandoned {
    abandoned(acquisition& call, std::unique_ptr<place> s, hold h)
        : home{call.home}
        , wake{call.take_wake()}
        , spot{std::move(s)}
        , what{std::move(h)}
        , lease{call.wanted.lease} {}
    std::shared_ptr<engine> home;
    std::unique_ptr<alarm> wake;
    std::unique_ptr<place> spot;
    hold what;
    duration lease;
};

/// The second release: a request that was never answered may be carried out until `settled_at`.
asio::awaitable<void> release_when_settled(engine& home, hold what, time_point settled_at,
                                           duration lease) {
    if (planted(mutant::no_second_release))
        co_return;
    co_await home.nap(settled_at);
    co_await release_until(home, std::move(what), gone_after(settled_at, lease));
}

asio::awaitable<void> clean_up(abandoned it) {
    engine& home = *it.home;
    const engine::task busy{home};
    const bool uncertain = it.spot->uncertain();
    const time_point settled_at = std::max(it.spot->settled_at(), home.now());
    if (!co_await leave(*it.spot))
        co_await release_until(home, it.what, gone_after(settled_at, it.lease));
    if (uncertain)
        co_await release_when_settled(home, it.what, settled_at, it.lease);
}

asio::awaitable<void> clean_up_settled(std::shared_ptr<wire_hold> ended) {
    engine& home = *ended->home;
    const engine::task busy{home};
    co_await release_when_settled(home, ended->what, ended->settled_at, ended->lease());
}

asio::awaitable<void> clean_up_after(std::shared_ptr<wire_hold> ended) {
    engine& home = *ended->home;
    const engine::task busy{home};
    const time_point began = home.now();
    co_await release_until(home, ended->what, ended->store_forgets_at());
    if (ended->settled_at > began)
        co_await release_when_settled(home, ended->what, ended->settled_at, ended->lease());
}

} // namespace

void undo(acquisition& call, std::unique_ptr<place> spot, hold what) {
    if (planted(mutant::no_release_on_cancel) && call.finished())
        return;
    call.home->spawn(clean_up(abandoned{call, std::move(spot), std::move(what)}));
}

void release_when_settled(std::shared_ptr<wire_hold> ended, time_point asked_at) {
    const std::shared_ptr<engine> home = ended->home;
    if (ended->settled_at > asked_at)
        home->spawn(clean_up_settled(std::move(ended)));
}

void release_remains(std::shared_ptr<wire_hold> ended) {
    const std::shared_ptr<engine> home = ended->home;
    home->spawn(clean_up_after(std::move(ended)));
}

void perhaps_extended(const std::shared_ptr<wire_hold>& held, duration term) {
    held->perhaps_extended(term);
    if (held->now_in() == wire_hold::phase::lost)
        release_remains(held);
}

} // namespace holdfast::sync
