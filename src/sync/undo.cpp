// SPDX-License-Identifier: Apache-2.0
#include "sync/undo.hpp"

#include "sync/engine.hpp"
#include "sync/outage.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

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

/// What is undone. The place rings the call's alarm, so it goes first.
struct abandoned {
    abandoned(std::shared_ptr<acquisition> c, std::unique_ptr<place> s, hold h)
        : call{std::move(c)}
        , spot{std::move(s)}
        , what{std::move(h)} {}
    std::shared_ptr<acquisition> call;
    std::unique_ptr<place> spot;
    hold what;
};

asio::awaitable<void> clean_up(abandoned it) {
    engine& home = *it.call->home;
    const engine::task busy{home};
    const bool uncertain = it.spot->uncertain();
    const time_point settled_at = std::max(it.spot->settled_at(), home.now());
    const duration lease = it.call->wanted.lease;
    const time_point gone_at = later(settled_at, lease + margin(lease));
    if (!co_await leave(*it.spot))
        co_await release_until(home, it.what, gone_at);
    if (!uncertain || planted(mutant::no_second_release))
        co_return;
    co_await home.nap(settled_at);
    co_await release_until(home, it.what, gone_at);
}

asio::awaitable<void> clean_up_after(std::shared_ptr<wire_hold> lost) {
    const engine::task busy{*lost->home};
    co_await release_until(*lost->home, lost->what, lost->store_forgets_at());
}

} // namespace

void undo(std::shared_ptr<acquisition> call, std::unique_ptr<place> spot, hold what) {
    const std::shared_ptr<engine> home = call->home;
    if (planted(mutant::no_release_on_cancel) && call->finished())
        return;
    home->spawn(clean_up(abandoned{std::move(call), std::move(spot), std::move(what)}));
}

void release_remains(std::shared_ptr<wire_hold> lost) {
    const std::shared_ptr<engine> home = lost->home;
    home->spawn(clean_up_after(std::move(lost)));
}

} // namespace holdfast::sync
