// SPDX-License-Identifier: Apache-2.0
#include "sync/wishes.hpp"

#include "sync/engine.hpp"

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <utility>

namespace holdfast::sync {
namespace {

/// Guard: as long as this object exists, the end of the hold rings the alarm.
class rung_at_end {
public:
    rung_at_end(held_lock& held, alarm& wake)
        : held_{held} {
        held_.set_wish_alarm(&wake);
    }
    rung_at_end(const rung_at_end&) = delete;
    ~rung_at_end() { held_.set_wish_alarm(nullptr); }

private:
    held_lock& held_;
};

bool goes_on(const held_lock& held) {
    return held.now_in() == held_lock::phase::held && !held.home->closing();
}

/// Subscribes to wishes for this hold. Returns null after an error; the client then notices wishes
/// only by polling.
asio::awaitable<std::unique_ptr<watch>> subscribe(wish_store& to, const held_lock& held,
                                                  alarm& wake) {
    std::unique_ptr<watch> heard;
    try {
        heard = co_await to.hear_wishes(held.what, wake);
    } catch (const boost::system::system_error&) {
        heard.reset();
    }
    co_return heard;
}

/// Returns the wish that the store has for this hold. Returns nothing after an error, because a
/// later call may succeed. If the user lacks the necessary rights, no call ever returns a wish.
asio::awaitable<std::optional<wish>> read_wish(wish_store& from, const held_lock& held) {
    std::optional<wish> found;
    try {
        found = co_await from.wish_for(held.what);
    } catch (const boost::system::system_error&) {
        found.reset();
    }
    co_return found;
}

asio::awaitable<void> listen(std::shared_ptr<engine> home, std::shared_ptr<held_lock> held) {
    const engine::loop ends_before_closing_does{*home};
    wish_store& from = *home->wishes();
    const std::unique_ptr<alarm> wake = home->time().make_alarm();
    const rung_at_end guard{*held, *wake};
    const std::unique_ptr<watch> heard = co_await subscribe(from, *held, *wake);
    while (goes_on(*held)) {
        std::optional<wish> got = co_await read_wish(from, *held);
        if (!goes_on(*held))
            break;
        if (got) {
            held->note_wish(std::move(*got));
            break;
        }
        co_await home->nap(*wake, later(home->now(), renewal_period(held->effective_lease())));
    }
}

} // namespace

void listen_for_wishes(const std::shared_ptr<held_lock>& held) {
    engine& home = *held->home;
    if (home.stopped() || !goes_on(*held) || !home.wishes())
        return;
    home.spawn(listen(held->home, held));
}

} // namespace holdfast::sync
