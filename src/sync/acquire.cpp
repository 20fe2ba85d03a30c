// SPDX-License-Identifier: Apache-2.0
// The one acquisition loop. Blocking, asynchronous and timed calls all end up here, also those that
// only wait to see a lock free.
//
//     line up ──▶ look ──granted in time──▶ a grant
//                  │ ▲
//       busy or no │ │ wake-up, holder's lease over, poll bound,
//          answer  ▼ │ or a pause after a failure
//                 wait ── patience over, cancelled, outage too long ──▶ undo
#include "sync/acquire.hpp"

#include "sync/engine.hpp"
#include "sync/family.hpp"
#include "sync/line_up.hpp"
#include "sync/look_pace.hpp"
#include "sync/outage.hpp"
#include "sync/undo.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::sync {
namespace {

/// A grant that arrives when its lease is over is asked for anew, so often.
constexpr int late_grants_max = 3;

owner_id number_for(acquisition& call) {
    return call.home->next_owner(call.wanted.permits());
}

/// The place in the store. Leaving the scope undoes what it may have taken, unless that was kept.
class attempt {
public:
    explicit attempt(const std::shared_ptr<acquisition>& call)
        : call_{call}
        , owner_{number_for(*call)}
        , spot_{line_up(*call, owner_)} {
        if (stood_on())
            stood_on()->begin_company();
    }
    attempt(const attempt&) = delete;
    ~attempt() {
        if (stood_on())
            stood_on()->end_company(gone_at());
        if (spot_ && (granted_ || spot_->must_leave()))
            undo(*call_, owner_, std::move(spot_));
    }

    place& spot() { return *spot_; }

    /// Whether the store has nothing of it any more, so that another may follow.
    asio::awaitable<bool> leave() {
        if (spot_->uncertain())
            co_return false;
        try {
            if (granted_ || spot_->must_leave())
                co_await spot_->leave();
        } catch (const boost::system::system_error&) {
            co_return false;
        }
        granted_ = false;
        co_return true;
    }

    /// What was granted, or nothing if that came too late to be of use. What is counted has no end.
    std::optional<grant> keep(time_point sent_at, const answer& said) {
        granted_ = true;
        const time_point now = call_->home->now();
        const bool counts = call_->wanted.of->counts().has_value();
        const duration term = counts ? duration::max() : said.term;
        const duration useful = counts ? term : std::min(term, call_->wanted.lease);
        const time_point settled_at = spot_->uncertain() ? spot_->settled_at() : time_point::min();
        if (call_->finished() || believed_until(sent_at, useful) <= now)
            return std::nullopt;
        spot_.reset();
        return grant{owner_, sent_at, term, said.token, said.tokens, settled_at, said.left_before};
    }

private:
    /// The write hold under which it would read.
    wire_hold* stood_on() const {
        const bool reads = call_->wanted.of->kind == lock_kind::read;
        return reads ? call_->wanted.under.get() : nullptr;
    }
    /// By then the store has nothing of it that nobody knows of.
    time_point gone_at() const {
        if (!spot_ || !spot_->must_leave())
            return time_point::min();
        const time_point settled_at = std::max(spot_->settled_at(), call_->home->now());
        return forgotten_at(settled_at, call_->wanted.lease);
    }

    std::shared_ptr<acquisition> call_;
    const owner_id owner_;
    std::unique_ptr<place> spot_;
    bool granted_ = false;
};

/// The pauses of a lock of which nobody tells that it is free.
std::optional<pauses> own_pauses(const acquisition& call) {
    const std::optional<backoff>& polls = call.wanted.of->polls;
    return polls ? std::optional<pauses>{std::in_place, *call.home, *polls} : std::nullopt;
}

/// When to look again at what was busy.
time_point next_look(const engine& home, const answer& said, std::optional<pauses>& polls) {
    return later(home.now(), polls ? std::min(said.term, polls->next()) : said.term);
}

/// Whether nobody may tell this call that the lock is free: it has to look by itself.
bool looks_by_itself(const acquisition& call) {
    return call.wanted.of->polls || (call.wanted.of->kind == lock_kind::token && call.wanted.takes);
}

/// How long before its patience ends such a call looks for the last time: there must be time for
/// the request to arrive, which carries its deadline.
constexpr duration last_look_margin{5};

/// Returns when to look next: at `look_at`, or for the last time shortly before the patience ends.
time_point or_last_look(const acquisition& call, time_point look_at, duration round_trip) {
    const time_point end = call.wanted.give_up_at;
    const time_point last = end == time_point::max() || !looks_by_itself(call)
                                ? end
                                : end - 2 * round_trip - last_look_margin;
    return std::min(look_at, last > call.home->now() ? last : end);
}

/// Until the next look, which comes later if so many came before.
asio::awaitable<void> keep_pace(acquisition& call, look_pace& pace) {
    const time_point next = std::min(pace.next(call.home->now()), call.wanted.give_up_at);
    while (!call.finished() && call.home->now() < next)
        co_await call.wake().wait_until(next);
}

/// Sleeps until it is known what became of this client's own last release: within the store's time
/// limit.
asio::awaitable<void> until_acknowledged(acquisition& call, gate& door) {
    const gate::bell rung{door, call.wake()};
    while (door.awaits_acknowledgement() && !call.finished())
        co_await call.wake().wait_until(time_point::max());
}

[[noreturn]] void fail_late(duration lease) {
    throw boost::system::system_error{make_error_code(errc::unreachable),
                                      "the answer took longer than the lease of " +
                                          std::to_string(lease.count()) + " ms, " +
                                          std::to_string(late_grants_max) + " times"};
}

} // namespace

asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<acquisition> call) {
    engine& home = *call->home;
    gate* const door = call->wanted.takes ? home.queues().find(key_of(*call)) : nullptr;
    std::optional<attempt> here{std::in_place, call};
    outage trouble{home};
    std::optional<pauses> polls = own_pauses(*call);
    look_pace pace;
    int late_grants = 0;
    duration round_trip{};
    while (!call->finished()) {
        const time_point sent_at = home.now();
        const bool may_overtake = door && door->awaits_acknowledgement();
        time_point look_at{};
        bool is_always_late = false;
        try {
            const answer said = co_await here->spot().look();
            round_trip = home.now() - sent_at;
            if (said.answered)
                trouble.over();
            if (said.granted) {
                if (const std::optional<grant> kept = here->keep(sent_at, said))
                    co_return kept;
                is_always_late = ++late_grants == late_grants_max;
                if (!is_always_late)
                    continue; // the same owner: it is granted anew
            }
            if (door)
                home.found_busy(*call);
            look_at = next_look(home, said, polls);
            if (door && door->serves_before(*call))
                look_at = time_point::max(); // it is rung when it is the next
        } catch (const boost::system::system_error& e) {
            look_at = trouble.next_try(e, sent_at);
        }
        if (is_always_late)
            fail_late(call->wanted.lease); // no outage: it is not repeated
        if (home.now() >= call->wanted.give_up_at) {
            trouble.rethrow_if_unanswered(); // nobody knows then whether it is busy
            bool was_ours = false;           // it may have been our own hold
            if (may_overtake)
                was_ours = co_await here->leave();
            if (was_ours) {
                co_await until_acknowledged(*call, *door);
                here.emplace(call);
                continue;
            }
            call->give_up_busy();
        }
        if (call->finished())
            break;
        co_await call->wake().wait_until(or_last_look(*call, look_at, round_trip));
        if (!polls) // else nobody rings
            co_await keep_pace(*call, pace);
        if (home.now() >= call->wanted.give_up_at)
            trouble.rethrow_if_unanswered();
    }
    co_return std::nullopt;
}

} // namespace holdfast::sync
