// SPDX-License-Identifier: Apache-2.0
// The Redlock algorithm: a call asks all nodes at once. If a majority votes for it in time, it has
// the lock.
//
//     ask all ──votes of a majority──▶ a hold; later votes join it
//        ▲  │ busy, or too few answer
//        │  ▼
//        │ release all ──▶ wait until enough are seen free, a poll bound, or a pause after silence
//        └───────────────────────────────────┘
//
// If the votes are split between calls that were made at the same time, each call pauses at random
// before it asks again. Source: "Distributed Locks with Redis", the Redlock algorithm.
#include "compose/composite_hold.hpp"
#include "compose/rounds.hpp"
#include "sync/acquisition_loop.hpp"
#include "sync/lock_handle.hpp"
#include "sync/retry_policy.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::compose {
namespace {

/// Pause after a round in which no call got a majority. The pause is longer than the usual
/// differences between the nodes' reply times.
constexpr backoff after_split{duration{4}, duration{200}};

/// Maximum number of majorities that arrive too late. After this number, the call fails.
constexpr int late_votes_max = 3;

/// Shortest time between two rounds, even if the nodes report at once that the lock is free.
constexpr duration quick{5};

/// Result of one round of requests to all nodes.
struct count {
    /// Number of votes that arrived in time, from nodes that remember their earlier grants.
    std::size_t votes = 0;
    std::size_t sit_out = 0; ///< number of grants of nodes that may have forgotten earlier grants
    std::size_t busy = 0;
    std::size_t missing = 0; ///< number of nodes that failed, or did not reply in time
    /// Number of nodes that got no request: the request still waited in the local queue, behind an
    /// earlier request of this client without a reply.
    std::size_t unasked = 0;
    duration sit_out_ends{}; ///< time until the next of the `sit_out` votes counts
};

class majority {
public:
    majority(std::shared_ptr<sync::acquisition> call, const quorum_descriptor& of)
        : call_{std::move(call)}
        , home_{call_->home}
        , of_{of} {
        if (!call_->wanted.renewed)
            given_ = call_->wanted.lease;
    }

    asio::awaitable<std::shared_ptr<composite_hold>> take() {
        sync::retry_policy trouble{*home_, duration::max()};
        sync::pauses split{*home_, after_split};
        while (!call_->finished()) {
            const time_point sent_at = home_->now();
            retired_with_scope round{ask_all()};
            co_await until_decided(*round);
            note_failures(*round);
            if (call_->finished())
                co_return nullptr;
            of_.tell_if_impaired(*round);
            refuse_doubles(of_, *round);
            const count got = counted(*round);
            const bool was_quick = home_->now() < sync::later(sent_at, quick);
            if (got.votes >= of_.needs) {
                if (std::shared_ptr<composite_hold> held = hold_of(round))
                    co_return held;
                note_late_grant();
                home_->tell_waiting(*call_);
                co_await pause_until(sync::later(home_->now(), split.next()));
                continue; // the parts are released, and the next round asks again
            }
            late_grants_ = 0;
            const time_point look_at = next_look(trouble, *round, got, sent_at);
            const std::vector<std::size_t> held_by_others = busy_of(*round);
            co_await let_go(*call_, *round);
            if (is_undecided_ && !call_->wanted.patient) {
                co_await wait_for_answers(*call_, undecided_until(), [] { return false; });
                continue;
            }
            throw_if_unanswered(trouble);
            if (call_->finished() || !goes_on())
                co_return nullptr;
            home_->tell_waiting(*call_);
            if (got.votes > 0 && got.busy > 0)
                co_await pause_until(sync::later(home_->now(), split.next()));
            else
                co_await until_seen_free(held_by_others, look_at);
            if (was_quick && home_->now() < sync::later(sent_at, quick))
                co_await pause_until(sync::later(home_->now(), split.next()));
            throw_if_unanswered(trouble);
        }
        co_return nullptr;
    }

private:
    std::shared_ptr<member_requests> ask_all() {
        auto round = std::make_shared<member_requests>(home_, of_.members, call_->wake());
        request_options how = of_.vote_options(given_);
        how.waited = home_->now() - call_->started_at;
        if (call_->wanted.patient)
            how.quorum_deadline = call_->wanted.give_up_at;
        home_->queues().find(sync::key_of(*call_))->note_request(home_->now());
        round->ask_all(how);
        return round;
    }

    /// Waits for the votes, at most for the time limit of a node. If too few nodes replied in the
    /// last round, the wait also ends at the deadline of the call.
    asio::awaitable<void> until_decided(member_requests& round) {
        const time_point began = home_->now();
        time_point limit = sync::later(began, of_.rules.node_timeout);
        if (is_unanswered_ && goes_on())
            limit = std::min(limit, call_->wanted.give_up_at);
        waited_for_votes_ = limit - began;
        is_late_ = false;
        auto decided = [this, &round] {
            const count so_far = counted(round);
            return round.open() == 0 || so_far.votes >= of_.needs ||
                   so_far.votes + so_far.sit_out + round.open() < of_.needs;
        };
        co_await wait_for_answers(*call_, limit, decided);
        is_late_ = home_->now() >= limit;
    }

    /// Stores the error text of each node that failed. Keeps the text until the node replies,
    /// because a later round may only notice that the node does not reply.
    void note_failures(const member_requests& round) {
        failures_.resize(round.size());
        for (std::size_t which = 0; which < round.size(); ++which)
            if (round.failed(which))
                failures_[which] = story_of(round.answer(which).why);
            else if (round.has_answered(which) && !round.answer(which).unasked)
                failures_[which].clear();
    }
    static std::string story_of(const sync::failure& why) {
        return why.text.empty() ? why.code.message() : why.text;
    }

    count counted(const member_requests& round) const {
        count so_far;
        so_far.sit_out_ends = duration::max();
        for (std::size_t which = 0; which < round.size(); ++which) {
            const member_answer& said = round.answer(which);
            if (round.busy(which) && said.unasked)
                ++so_far.unasked;
            else if (round.busy(which))
                ++so_far.busy;
            else if (!round.granted(which)) // the node may still reply to a pending request
                so_far.missing += !round.is_open(which) || is_late_ ? 1 : 0;
            else if (!said.got.is_valid())
                ++so_far.missing;
            else if (said.counts_in > duration::zero())
                note_sit_out(so_far, said.counts_in);
            else
                ++so_far.votes;
        }
        return so_far;
    }
    static void note_sit_out(count& so_far, duration ends) {
        ++so_far.sit_out;
        so_far.sit_out_ends = std::min(so_far.sit_out_ends, ends);
    }

    /// Counts the majorities whose lease expired between the last reply and the creation of the
    /// hold. Throws after too many such majorities.
    void note_late_grant() {
        if (++late_grants_ == late_votes_max || !goes_on())
            throw sync::worded_error{{make_error_code(errc::unreachable),
                                      "the answers of a majority took longer than the lease, " +
                                          std::to_string(late_grants_) + " times"}};
    }

    /// Creates the hold. Returns null if the lease ended before the hold was created.
    std::shared_ptr<composite_hold> hold_of(retired_with_scope& round) {
        auto of = std::static_pointer_cast<const composite_descriptor>(call_->wanted.of);
        auto held = std::make_shared<composite_hold>(std::move(of), call_->wanted);
        for (std::size_t which = 0; which < round->size(); ++which)
            if (round->granted(which)) {
                const duration counts_in = round->answer(which).counts_in;
                held->join(which, std::move(round->answer(which).got), counts_in);
            }
        if (!held->is_valid())
            return nullptr;
        tell_acquired(*call_, *held); // comes first, because begin() may report a loss
        held->begin(round.keep());
        return held;
    }

    /// Returns when to ask the nodes again. Throws if too few nodes were reachable for too long.
    time_point next_look(sync::retry_policy& trouble, const member_requests& round,
                         const count& got, time_point sent_at) {
        const std::size_t can_vote = of_.members.size() - got.missing - got.sit_out;
        if (got.unasked == 0)
            behind_since_.reset();
        else if (!behind_since_)
            behind_since_ = home_->now();
        const bool is_behind = can_vote >= of_.needs && can_vote < of_.needs + got.unasked;
        is_undecided_ = is_behind && home_->now() < undecided_until();
        const bool is_too_few = can_vote < of_.needs || (is_behind && !is_undecided_);
        // If this round is not decided, `is_unanswered_` keeps its value, which is the result of
        // the last decided round.
        is_unanswered_ = is_too_few || (is_undecided_ && is_unanswered_);
        sync::gate& door = *home_->queues().find(sync::key_of(*call_));
        if (can_vote >= of_.needs + got.unasked) {
            trouble.over();
            door.note_reply(false);
            return next_poll();
        }
        if (can_vote + got.sit_out >= of_.needs + got.unasked && goes_on())
            return std::min(sync::later(home_->now(), got.sit_out_ends), next_poll());
        try {
            throw sync::worded_error{why_too_few(round)};
        } catch (const boost::system::system_error& e) {
            const time_point next = trouble.next_try(e, sent_at);
            if (!is_undecided_)
                door.note_no_reply({e.code(), e.what()});
            return next;
        }
    }
    time_point next_poll() const {
        const duration bound = of_.members.front()->kind == lock_kind::token
                                   ? std::min(sync::untold_poll_bound, home_->how().poll_bound)
                                   : home_->how().poll_bound;
        return sync::later(home_->now(), bound - home_->jitter(bound / 4));
    }

    /// Returns the time until which earlier requests of this client may still get replies, for
    /// example requests that undo a grant. After that time, a node without a reply is treated as
    /// unreachable.
    time_point undecided_until() const {
        return sync::later(behind_since_.value_or(home_->now()), of_.rules.node_timeout);
    }
    bool goes_on() const {
        return call_->wanted.patient && home_->now() < call_->wanted.give_up_at;
    }
    /// Throws the last error if the call's time is over, and too few nodes were able to vote in the
    /// last decided round. In this case it is unknown whether the lock is busy.
    void throw_if_unanswered(const sync::retry_policy& trouble) const {
        if (is_unanswered_ && !goes_on() && !call_->finished())
            trouble.rethrow_if_unanswered();
    }

    /// Returns why there is no majority. If some nodes failed permanently, the result has the error
    /// code of one of these failures.
    sync::failure why_too_few(const member_requests& round) const {
        std::string text = "no majority of the " + std::to_string(round.size()) + " nodes can vote";
        error_code code = make_error_code(errc::unreachable);
        for (std::size_t which = 0; which < round.size(); ++which) {
            const std::string words = words_of(round, which);
            if (!words.empty())
                text += "; node " + std::to_string(which + 1) + ": " + words;
            if (round.failed(which) && !sync::is_retryable(round.answer(which).why.code))
                code = round.answer(which).why.code;
        }
        return {code, text};
    }
    std::string words_of(const member_requests& round, std::size_t which) const {
        const member_answer& said = round.answer(which);
        if (!failures_[which].empty())
            return failures_[which];
        if (round.busy(which) && said.unasked)
            return "an earlier question to it is not answered yet";
        // The round ended before this node replied, because other nodes made a majority impossible.
        // So this node may be healthy.
        if (round.is_open(which) && !is_late_)
            return {};
        if (round.is_open(which))
            return "no answer within " + std::to_string(waited_for_votes_.count()) + " ms";
        if (round.granted(which) && !said.got.is_valid())
            return "its answer took longer than the lease";
        if (round.granted(which) && said.counts_in > duration::zero())
            return "it was restarted, and has no vote for " +
                   std::to_string(said.counts_in.count()) + " ms";
        return {};
    }

    static std::vector<std::size_t> busy_of(const member_requests& round) {
        std::vector<std::size_t> busy;
        for (std::size_t which = 0; which < round.size(); ++which)
            if (round.busy(which))
                busy.push_back(which);
        return busy;
    }

    /// Waits until as many nodes are free as a majority needs. The nodes become free at about the
    /// same time, because a holder releases its lock on all nodes together. Ends at once if the
    /// client of one of these nodes is closed, because the next round may have to report this.
    asio::awaitable<void> until_seen_free(const std::vector<std::size_t>& busy, time_point limit) {
        const time_point end = std::min(limit, call_->wanted.give_up_at);
        const retired_with_scope watched{
            std::make_shared<member_requests>(home_, of_.members, call_->wake())};
        const request_options how{.timeout = end - home_->now(), .takes = false};
        for (const std::size_t which : busy)
            watched->ask(which, how);
        const std::size_t others = of_.members.size() - busy.size();
        auto enough = [&] {
            const auto closed = [&](std::size_t which) {
                return watched->failed(which) && watched->answer(which).why.code == errc::closed;
            };
            if (std::any_of(busy.begin(), busy.end(), closed))
                return true;
            const auto free = [&](std::size_t which) { return watched->busy(which); };
            const auto seen =
                static_cast<std::size_t>(std::count_if(busy.begin(), busy.end(), free));
            return seen > 0 && others + seen >= of_.needs;
        };
        co_await wait_for_answers(*call_, end, enough);
    }
    asio::awaitable<void> pause_until(time_point until) {
        const time_point end = std::min(until, call_->wanted.give_up_at);
        co_await wait_for_answers(*call_, end, [] { return false; });
    }

    const std::shared_ptr<sync::acquisition> call_;
    const std::shared_ptr<sync::engine> home_;
    const quorum_descriptor& of_;
    std::optional<duration> given_{};
    int late_grants_ = 0;
    // Time at which requests began to wait behind earlier requests in the local queue. Empty if no
    // request waits in the local queue.
    std::optional<time_point> behind_since_{};
    // True: earlier requests may still get a reply in time.
    bool is_undecided_ = false;
    // True if, in the last decided round, too few nodes were able to vote.
    bool is_unanswered_ = false;
    // True if the last round lasted for the whole time limit of the nodes, or until the deadline.
    bool is_late_ = false;
    duration waited_for_votes_{}; // the longest time that the last round could wait for votes
    std::vector<std::string> failures_{}; // why each node failed; empty if it did not
};

} // namespace

asio::awaitable<std::shared_ptr<sync::lock_handle>>
quorum_descriptor::take(std::shared_ptr<sync::acquisition> call) const {
    majority vote{std::move(call), *this};
    std::shared_ptr<sync::lock_handle> held = co_await vote.take();
    co_return held;
}

void quorum_descriptor::tell_if_impaired(const member_requests& asked) const {
    std::string why;
    if (members.size() < 3)
        why = "a quorum of fewer than 3 nodes does not survive the loss of a node";
    for (std::size_t which = 0; which < asked.size() && why.empty(); ++which)
        if (asked.granted(which) && !asked.answer(which).says_restarts && !rules.nodes_remember)
            why = "node " + std::to_string(which + 1) +
                  " does not report when it was started, so it votes although it may have "
                  "forgotten a granted lock";
    if (why.empty() || told_impaired_.exchange(true))
        return;
    event e{.kind = event_kind::impaired};
    e.name = name.text.data();
    e.name_size = name.text.size();
    e.text = why.data();
    e.text_size = why.size();
    home->tell(e);
}

} // namespace holdfast::compose
