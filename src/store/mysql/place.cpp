// SPDX-License-Identifier: Apache-2.0
// How one client waits for one lock: ask, listen and ask again, then sleep and ask in a loop.
#include "store/mysql/place.hpp"

#include "net/later.hpp"
#include "store/remote/attempts.hpp"

#include <utility>

namespace holdfast::mysql {
namespace {

/// Allowance for rounding. The server rounds the remaining time up, and the two clocks are read at
/// different moments.
constexpr duration rounding_of_ends{1};

} // namespace

lock_place::lock_place(site& at, bells& all, poller& polls, remote::lately_busy& busy, ask want,
                       alarm& wake)
    : at_{at}
    , bells_{all}
    , poller_{polls}
    , busy_{busy}
    , want_{std::move(want)}
    , how_{*verbs_of(want_.kind)}
    , wake_{wake}
    , attempts_{at.context, want_, at.server.command_timeout()} {}

asio::awaitable<answer> lock_place::look() {
    if (attempts_.found_busy())
        listen();
    const duration bound = remote::poll_bound_of(want_, at_.context.poll_bound);
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(std::move(send), bound, rounding_of_ends);
}

asio::awaitable<attempt> lock_place::request(time_point deadline) {
    remote::set_terms_of_mark(want_, at_.context.poll_bound, round_trip_);
    const std::shared_ptr<carrier> rung_on = bell_ ? bell_->rung_on() : nullptr;
    const bool may_be_free = !attempts_.found_busy() && !busy_.contains(want_.name.text);
    take_terms terms{deadline, rung_on, may_be_free};
    const taken got = co_await how_.take(at_, want_, std::move(terms));
    round_trip_ = got.seen.received_at - got.seen.sent_at;
    busy_.note(want_.name.text, got.seen.said == verdict::busy);
    if (got.seen.said == verdict::granted) {
        if (got.bell)
            bells_.keep(want_, got.bell, net::later(got.seen.sent_at, want_.lease_time));
        if (rung_on && got.bell)
            bell_->is_handed_over();
        bell_.reset();
        poll_.reset();
    }
    co_return got.seen;
}

/// Starts to wait for a notification. If the server has user locks, the waiter waits for the user
/// lock. It also polls, but rarely: a dead holder may still hold the user lock, and a holder may
/// have lost only the lock. The waiter polls often if there are no user locks. It also polls often
/// if it got the user lock while the lock is held.
void lock_place::listen() {
    if (how_.has_bell && !bell_ && bell_wait::is_of_use(at_))
        bell_ = std::make_unique<bell_wait>(at_, want_.name, wake_);
    const pace now = bell_ && bell_->is_waiting() ? pace::seldom : pace::often;
    if (!poll_ || pace_ != now)
        poll_ = poller_.enrol(how_.may_be_had(at_, want_), wake_, now);
    pace_ = now;
}

asio::awaitable<void> lock_place::leave() {
    bell_.reset();
    poll_.reset();
    if (!attempts_.must_leave())
        co_return;
    std::shared_ptr<carrier> bell = bells_.take_out(want_);
    co_await how_.release(at_, want_, std::move(bell));
    attempts_.left();
}

} // namespace holdfast::mysql
