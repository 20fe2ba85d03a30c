// SPDX-License-Identifier: Apache-2.0
#include "sync/undo.hpp"

#include "sync/engine.hpp"
#include "sync/outage.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

/// Repeats `step` until the store has replied. `step` leaves a queue or releases a hold. It stops
/// at the time `gone()`, because then nothing is left to clean up. That time may move.
template <typename Gone, typename Step>
asio::awaitable<void> repeat_until(engine& home, engine::task& busy, Gone gone, Step step) {
    pauses pause{home};
    while (!home.stopped() && home.now() < gone()) {
        duration rest{};
        try {
            co_await step();
            co_return;
        } catch (const boost::system::system_error& e) {
            if (said_no(e.code()))
                busy.expect_nothing();
            rest = pause.next(e.code());
        }
        co_await home.nap(std::min(gone(), later(home.now(), rest)));
    }
}

asio::awaitable<void> release_all(engine& home, engine::task& busy, const wire_hold& ended) {
    // A session may live longer than this client assumes, for example if the process was suspended
    // and the server did not end the session. Then the server keeps the hold as long as this client
    // lives.
    const limits bounds = home.bounds();
    const time_point tried_until =
        bounds.by_session ? later(home.now(), bounds.time_limit) : time_point::min();
    auto gone = [&ended, tried_until] { return std::max(ended.remains_until(), tried_until); };
    auto release = [&home, &ended] { return home.locks().release(ended.what); };
    co_await repeat_until(home, busy, gone, release);
    ended.tell_company_of_release();
}

asio::awaitable<void> release_write_again(std::shared_ptr<wire_hold> read, hold write) {
    engine& home = *read->home;
    engine::task busy{home};
    auto gone = [&read] { return read->store_forgets_at(); };
    auto release = [&home, &write] { return home.locks().release(write); };
    co_await repeat_until(home, busy, gone, release);
}

/// An attempt to undo. `spot` may ring `wake`, so `spot` is declared later and destroyed first.
struct abandoned {
    abandoned(acquisition& call, owner_id o, std::unique_ptr<place> s)
        : home{call.home}
        , what{call.name(), o, call.wanted.of->kind}
        , wake{call.take_wake()}
        , spot{std::move(s)}
        , kept{call.wanted.lasts_unwanted()}
        , under{call.wanted.under} {}
    std::shared_ptr<engine> home;
    hold what;
    std::unique_ptr<alarm> wake;
    std::unique_ptr<place> spot;
    duration kept; ///< how long the store keeps a hold or queue entry that is not cleaned up
    std::shared_ptr<wire_hold> under; // write hold that would last as long as an orphaned read hold
};

// Cleans up after an attempt. A request without a reply may be carried out until `settled_at`. So
// the waiter leaves the store's queue now, and once more after that time.

asio::awaitable<void> clean_up(abandoned it) {
    engine& home = *it.home;
    engine::task busy{home};
    place& spot = *it.spot;
    const bool uncertain = spot.uncertain();
    const time_point settled_at = std::max(spot.settled_at(), home.now());
    const time_point gone_at = forgotten_at(settled_at, it.kept);
    auto gone = [&it, gone_at] {
        return it.under ? std::max(gone_at, it.under->store_forgets_at()) : gone_at;
    };
    auto leave = [&spot] { return spot.leave(); };
    co_await repeat_until(home, busy, gone, leave);
    if (it.under && it.what.kind == lock_kind::write)
        it.under->note_released_write(it.what);
    if (!uncertain)
        co_return;
    co_await home.nap(settled_at);
    co_await repeat_until(home, busy, gone, leave);
}

asio::awaitable<void> release_again(engine& home, engine::task& busy, const wire_hold& ended) {
    co_await home.nap(ended.settled_at);
    co_await release_all(home, busy, ended);
}

asio::awaitable<void> clean_up_settled(std::shared_ptr<wire_hold> ended) {
    engine& home = *ended->home;
    engine::task busy{home};
    co_await release_again(home, busy, *ended);
}

asio::awaitable<void> clean_up_after(std::shared_ptr<wire_hold> ended) {
    engine& home = *ended->home;
    engine::task busy{home};
    const time_point began = home.now();
    co_await release_all(home, busy, *ended);
    if (ended->settled_at > began)
        co_await release_again(home, busy, *ended);
}

} // namespace

void undo(acquisition& call, owner_id owner, std::unique_ptr<place> spot) {
    call.home->spawn(clean_up(abandoned{call, owner, std::move(spot)}));
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

void release_writes_again(const std::shared_ptr<wire_hold>& read) {
    for (hold& write : read->released_writes())
        read->home->spawn(release_write_again(read, std::move(write)));
}

void release_late_remains(const std::shared_ptr<wire_hold>& held) {
    if (held->now_in() == wire_hold::phase::lost)
        release_remains(held);
}

} // namespace holdfast::sync
