// SPDX-License-Identifier: Apache-2.0
// Takes all members or none. A call never waits long for a member while it holds other members, so
// there is no deadlock. Competing calls ask the same member first, so one of them makes progress.
//     all at once ──all granted──▶ a hold
//          │ one is busy
//          ▼
//     release all; wait for the first, holding nothing ──▶ the others at once, for a moment
//          ▲                                                   │ one is busy
//          └──────────── release all, pause, that one first ◀──┘
#include "compose/joint_hold.hpp"
#include "compose/rounds.hpp"
#include "sync/outage.hpp"
#include "sync/worded_error.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::compose {
namespace {

/// Time by which the wait for the other members grows in each round after the first.
constexpr duration moment_more{10};

/// Maximal number of rounds in which the last grant arrives after the first lease has ended. Then
/// the call fails.
constexpr int late_grants_max = 3;

/// Pause between two rounds, so that competing calls do not meet again at once.
constexpr backoff between_rounds{duration{2}, duration{100}};

/// Returns the member that every call asks first: the member whose name is first in the alphabet.
std::size_t least_of(const std::vector<member>& members) {
    const auto before = [](const member& one, const member& other) {
        return one->name.text < other->name.text;
    };
    return static_cast<std::size_t>(std::min_element(members.begin(), members.end(), before) -
                                    members.begin());
}

class all_members {
public:
    all_members(std::shared_ptr<sync::acquisition> call, const multi_subject& of)
        : call_{std::move(call)}
        , home_{call_->home}
        , of_{of}
        , round_{std::make_shared<inquiry>(home_, of.members, call_->wake())}
        , first_{least_of(of.members)} {
        if (!call_->wanted.renewed)
            lease_ = call_->wanted.lease;
    }

    asio::awaitable<std::shared_ptr<joint_hold>> take() {
        sync::pauses pause{*home_, between_rounds};
        sync::outage trouble{*home_};
        time_point sent_at = home_->now();
        co_await ask_all_at_once();
        for (int round = 1; !call_->finished(); ++round) {
            if (std::shared_ptr<joint_hold> held = all_granted())
                co_return held;
            if (call_->finished())
                break;
            refuse_doubles(of_, *round_);
            refuse_late_grants();
            const time_point next = next_round(trouble, pause, sent_at, round);
            co_await let_go(*call_, *round_);
            if (!goes_on()) {
                if (!call_->finished())
                    // Without a reply it is unknown whether the lock is busy.
                    trouble.rethrow_if_unanswered();
                co_return nullptr;
            }
            co_await pause_until(next);
            sent_at = home_->now();
            co_await ask_in_turn(round);
        }
        co_return nullptr;
    }

private:
    bool goes_on() const {
        return !call_->finished() && call_->wanted.patient &&
               home_->now() < call_->wanted.give_up_at;
    }

    asio::awaitable<void> ask_all_at_once() {
        for (std::size_t which = 0; which < of_.members.size(); ++which)
            round_->ask(which, {.lease = lease_});
        co_await until_answered(duration::zero());
    }

    /// Asks one member, with all of the remaining time. Then asks the others, for a short time.
    asio::awaitable<void> ask_in_turn(int round) {
        const duration rest = call_->wanted.give_up_at - home_->now();
        round_->ask(first_, {.patience = rest, .lease = lease_});
        co_await until_answered(rest);
        if (!round_->granted(first_))
            co_return;
        const duration most = std::min(moment_more * (round - 1), call_->wanted.lease / 10);
        for (std::size_t which = 0; which < of_.members.size(); ++which)
            if (which != first_)
                round_->ask(which, {.patience = most, .lease = lease_});
        co_await until_answered(most);
        note_busy();
        co_await lengthen_first();
    }

    /// Waits for the replies. If a member does not grant, the round ends at once.
    asio::awaitable<void> until_answered(duration patience) {
        const time_point limit = answered_by(*home_, *round_, patience);
        co_await wait_for_answers(*call_, limit, [this] { return round_->open() == 0 || fails(); });
        if (!call_->finished() && round_->open() > 0 && !fails())
            throw_unanswered();
    }
    bool fails() const {
        for (std::size_t which = 0; which < round_->size(); ++which)
            if (round_->has_answered(which) && !round_->granted(which))
                return true;
        return false;
    }
    [[noreturn]] void throw_unanswered() const {
        std::size_t which = 0;
        while (!round_->is_open(which))
            ++which;
        throw sync::worded_error{
            {make_error_code(errc::unreachable), "member " + std::to_string(which + 1) + " (" +
                                                     of_.members[which]->name.text +
                                                     "): nobody runs its client's executor"}};
    }
    void note_busy() {
        for (std::size_t which = 0; which < round_->size(); ++which)
            if (round_->busy(which))
                first_ = which;
    }

    /// Extends the lease of the member that was asked first. A lease that is not renewed began
    /// earlier there than at the other members.
    asio::awaitable<void> lengthen_first() {
        if (!lease_ || fails() || round_->open() > 0)
            co_return;
        co_await extend_part(*call_, round_->answer(first_).got, *lease_);
    }

    /// Returns when the next round begins. Throws if a member failed and a retry cannot help.
    time_point next_round(sync::outage& trouble, sync::pauses& pause, time_point sent_at,
                          int round) {
        const sync::failure why = first_failure(*round_, of_.members);
        if (!why.code) {
            trouble.over();
            return round > 1 ? sync::later(home_->now(), pause.next()) : home_->now();
        }
        try {
            throw sync::worded_error{why};
        } catch (const boost::system::system_error& e) {
            return trouble.next_try(e, sent_at);
        }
    }

    asio::awaitable<void> pause_until(time_point until) {
        const time_point end = std::min(until, call_->wanted.give_up_at);
        co_await wait_for_answers(*call_, end, [] { return false; });
    }

    /// Counts rounds in which all members granted, but the first lease ended before the last grant
    /// arrived. Throws if there were too many.
    void refuse_late_grants() {
        if (call_->finished() || round_->open() > 0 || fails())
            return;
        if (++late_grants_ == late_grants_max)
            throw sync::worded_error{{make_error_code(errc::unreachable),
                                      "the answers of all members took longer than the lease of " +
                                          std::to_string(call_->wanted.lease.count()) + " ms, " +
                                          std::to_string(late_grants_max) + " times"}};
    }

    std::shared_ptr<joint_hold> all_granted() {
        for (std::size_t which = 0; which < round_->size(); ++which)
            if (!round_->granted(which) || !round_->answer(which).got.believed())
                return nullptr;
        auto of = std::static_pointer_cast<const joint_subject>(call_->wanted.of);
        auto held = std::make_shared<joint_hold>(std::move(of), call_->wanted);
        for (std::size_t which = 0; which < round_->size(); ++which)
            held->join(which, std::move(round_->answer(which).got));
        held->begin(round_.keep());
        tell_acquired(*call_, *held);
        return held;
    }

    const std::shared_ptr<sync::acquisition> call_;
    const std::shared_ptr<sync::engine> home_;
    const multi_subject& of_;
    retired_with_scope round_;
    std::optional<duration> lease_{};
    std::size_t first_;
    int late_grants_ = 0;
};

} // namespace

asio::awaitable<std::shared_ptr<sync::tenure>>
multi_subject::take(std::shared_ptr<sync::acquisition> call) const {
    all_members members_of{std::move(call), *this};
    std::shared_ptr<sync::tenure> held = co_await members_of.take();
    co_return held;
}

} // namespace holdfast::compose
