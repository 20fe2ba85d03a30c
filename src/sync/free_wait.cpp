// SPDX-License-Identifier: Apache-2.0
// The acquisition loop's little sister: look, listen, look again, sleep; but it never takes.
#include "sync/free_wait.hpp"

#include "sync/look_pace.hpp"
#include "sync/outage.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

/// Who cannot be told of a release looks at least this often.
constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// A key goes in the millisecond after its last.
constexpr duration expiry_rounding{2};

void throw_if_closed(const engine& home) {
    if (home.closing())
        throw boost::system::system_error{make_error_code(errc::closed), "the client is closed"};
}

} // namespace

asio::awaitable<bool> wait_until_free(std::shared_ptr<engine> home, lock_name name,
                                      duration patience) {
    throw_if_closed(*home); // before there is an alarm: the clock may be gone
    const time_point give_up_at = later(home->now(), std::max(patience, duration::zero()));
    const std::unique_ptr<alarm> wake = home->time().make_alarm();
    std::unique_ptr<watch> ear;
    outage trouble{*home};
    look_pace pace;
    for (;;) {
        throw_if_closed(*home);
        const time_point sent_at = home->now();
        time_point next_look{};
        try {
            const std::optional<holding> found = co_await home->operators_view().inspect(name);
            trouble.over();
            if (!found)
                co_return true;
            if (!ear && sent_at < give_up_at) {
                ear = co_await home->operators_view().listen(name, *wake);
                if (ear)
                    continue; // it may have been released before we listened
            }
            const duration bound = ear ? home->how().poll_bound : unheard_poll_bound;
            const duration left = found->remaining.value_or(bound);
            next_look = later(home->now(), std::min(bound, left + expiry_rounding));
        } catch (const boost::system::system_error& e) {
            next_look = trouble.next_try(e, sent_at);
        }
        if (home->now() >= give_up_at) {
            trouble.rethrow_if_unanswered(); // nobody knows then whether it is free
            co_return false;
        }
        co_await home->nap(*wake, std::min(next_look, give_up_at));
        const time_point paced = std::min(pace.next(home->now()), give_up_at);
        while (!home->closing() && home->now() < paced)
            co_await home->nap(*wake, paced);
    }
}

} // namespace holdfast::sync
