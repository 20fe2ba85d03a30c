// SPDX-License-Identifier: Apache-2.0
#include "compose/composite_lock.hpp"

#include "compose/composite_hold.hpp"
#include "compose/rounds.hpp"
#include "sync/engine.hpp"
#include "sync/lock_handle.hpp"
#include "sync/retry_policy.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace holdfast::compose {
namespace {

/// Returns the key of a set of members. Each name is preceded by its length, so two different sets
/// never have the same key.
std::string entry_of(const std::vector<member>& members, std::size_t needs) {
    std::vector<std::string> each;
    for (const member& one : members) {
        const auto& client = one->home->identity();
        each.push_back(std::string{client.begin(), client.end()} +
                       static_cast<char>(one->lock_family()) +
                       std::to_string(one->name.text.size()) + ' ' + one->name.text);
    }
    std::sort(each.begin(), each.end());
    std::string all = std::to_string(needs) + ' ';
    for (const std::string& one : each)
        all += one;
    return all;
}

std::size_t majority_of(std::size_t nodes) {
    return nodes / 2 + 1;
}

unsigned most_replicas(const std::vector<member>& members) {
    unsigned most = 0;
    for (const member& one : members)
        most = std::max<unsigned>(most, one->replicas);
    return most;
}

std::string names_of(const std::vector<member>& members) {
    std::string all;
    for (const member& one : members)
        all += (all.empty() ? "" : " + ") + one->name.text;
    return all;
}

} // namespace

composite_descriptor::composite_descriptor(std::vector<member> of, lock_name n, std::size_t needed,
                                           duration l, const detail::lock_setup& how)
    : lock_descriptor{of.front()->home, std::move(n), l, how}
    , members{std::move(of)}
    , needs{needed}
    , entry_{entry_of(members, needs)} {}

std::vector<const sync::engine*> composite_descriptor::homes() const {
    std::vector<const sync::engine*> all;
    for (const member& each : members)
        all.push_back(each->home.get());
    return all;
}

multi_descriptor::multi_descriptor(std::vector<member> of, duration l)
    : composite_descriptor{of, names_of(of), of.size(), l, {}} {}

void multi_descriptor::refuse_parts_of_this_thread() const {
    for (const member& each : members)
        if (each->home->threads()->find(each->entry(), each->way()).count > 0)
            throw sync::worded_error{{make_error_code(errc::already_held),
                                      "this thread holds " + each->name.text + " by itself"}};
}

void multi_descriptor::lend_parts(const sync::lock_handle& held) const {
    if (const auto* const all = dynamic_cast<const composite_hold*>(&held))
        for (std::size_t which = 0; which < members.size(); ++which)
            if (std::shared_ptr<sync::lock_handle> one = all->hold_of(which))
                members[which]->home->threads()->lend(std::move(one), members[which]->way());
}

void multi_descriptor::take_back_parts() const {
    for (const member& each : members)
        each->home->threads()->take_back_lent(each->entry(), each->way());
}

any_descriptor::any_descriptor(std::vector<member> of, duration l)
    : composite_descriptor{of, names_of(of), 1, l, {}} {}

quorum_descriptor::quorum_descriptor(std::vector<member> of, lock_name n, duration l, recursion a,
                                     quorum_rules r)
    : composite_descriptor{of,
                           std::move(n),
                           majority_of(of.size()),
                           l,
                           {.again = a, .replicas = most_replicas(of)}}
    , rules{r} {}

request_options quorum_descriptor::vote_options(std::optional<duration> given) const {
    request_options how{.lease = given};
    if (!rules.nodes_remember)
        how.longest_lease = rules.longest_lease;
    return how;
}

void refuse_doubles(const composite_descriptor& of, const member_requests& asked) {
    for (std::size_t one = 0; one < asked.size(); ++one)
        for (std::size_t other = 0; other < one; ++other) {
            const std::string& server = asked.answer(one).server;
            if (server.empty() || server != asked.answer(other).server ||
                of.members[one]->name != of.members[other]->name)
                continue;
            throw sync::worded_error{
                {make_error_code(errc::invalid_argument),
                 "members " + std::to_string(other + 1) + " and " + std::to_string(one + 1) +
                     " are the same lock on the same server (" + server + ")"}};
        }
}

asio::awaitable<std::optional<holding>> composite_descriptor::inspect() const {
    const auto decided = [this](const auto& replies) { return is_decided(*this, replies); };
    std::vector<reply_of<std::optional<holding>>> all =
        co_await ask_members<std::optional<holding>>(
            *this, [](const lock_descriptor& of) { return of.inspect(); }, decided);
    co_return as_one(*this, std::move(all));
}

namespace {

/// State of the removal of one member from its holder (`composite_descriptor::forcing`). Use it on
/// the executor of the member's client.
struct member_removal {
    bool is_sent = false; ///< true: the store may have executed a request
    reply_of<bool> said{.why = {make_error_code(errc::outcome_unknown), "it did not answer"}};
};
using removals = std::map<const sync::lock_descriptor*, member_removal>;

/// Removes the member from its holder. If the store may have executed the request, does not repeat
/// it, because the repetition could remove the next holder's hold.
asio::awaitable<bool> remove_once(std::shared_ptr<removals> all, const sync::lock_descriptor& of) {
    member_removal& mine = all->at(&of);
    if (!std::exchange(mine.is_sent, true)) {
        const std::function<asio::awaitable<bool>()> force = of.forcing();
        try {
            mine.said.value = co_await force();
        } catch (const boost::system::system_error& e) {
            mine.said.why = {e.code(), e.what()};
            mine.is_sent = !sync::is_undone(e.code());
        }
    }
    if (!mine.said.value)
        throw sync::worded_error{mine.said.why};
    co_return *mine.said.value;
}

asio::awaitable<bool> remove_members(const composite_descriptor& of,
                                     std::shared_ptr<removals> all) {
    const auto decided = [&of](const auto& replies) { return is_decided(of, replies); };
    const work_on<bool> remove = [all](const sync::lock_descriptor& each) {
        return remove_once(all, each);
    };
    std::vector<reply_of<bool>> replies = co_await ask_members<bool>(of, remove, decided);
    co_return any_of(of, replies);
}

} // namespace

std::function<asio::awaitable<bool>()> composite_descriptor::forcing() const {
    const auto all = std::make_shared<removals>();
    for (const member& each : members)
        all->try_emplace(each.get());
    return [this, all] { return remove_members(*this, all); };
}

// Takes all members or none. All clients put the members in one order: by name, then by server.
// While a call holds members, it waits only for members that come later in this order, and only for
// a moment. So calls never wait for each other in a circle, and one of the calls that compete makes
// progress.
//     all at once ──all granted──▶ a hold
//          │ one is busy
//          ▼
//     release all; wait for the first, holding nothing ──▶ the others at once, for a moment
//          ▲                                                   │ one is busy
//          └──────────── release all, pause, that one first ◀──┘

namespace {

/// Time that is added to the wait for the other members after each round.
constexpr duration moment_more{10};

/// Maximum number of rounds in which the first lease has expired before the last member grants its
/// lock. After this number of such rounds, the call fails.
constexpr int late_grants_max = 3;

/// Pause between two rounds, so that competing calls do not send their next requests at the same
/// time again.
constexpr backoff between_rounds{duration{2}, duration{100}};

class all_members {
public:
    all_members(std::shared_ptr<sync::acquisition> call, const multi_descriptor& of)
        : call_{std::move(call)}
        , home_{call_->home}
        , of_{of}
        , round_{std::make_shared<member_requests>(home_, of.members, call_->wake())}
        , servers_(of.members.size()) {
        if (!call_->wanted.renewed)
            lease_ = call_->wanted.lease;
        round_->on_each_request([this](std::size_t which, const sync::failure& no_reply) {
            note(no_reply.code ? failure_of(which, of_.members, no_reply) : no_reply);
        });
    }

    asio::awaitable<std::shared_ptr<composite_hold>> take() {
        sync::pauses pause{*home_, between_rounds};
        sync::retry_policy trouble{*home_, duration::max()};
        time_point sent_at = home_->now();
        co_await ask_all_at_once();
        for (int round = 1; !call_->finished(); ++round) {
            if (std::shared_ptr<composite_hold> held = all_granted())
                co_return held;
            if (call_->finished())
                break;
            refuse_doubles(of_, *round_);
            refuse_late_grants();
            const bool is_cut_off = round_->open() > 0 && !fails();
            const time_point next =
                is_cut_off ? home_->now() : next_round(trouble, pause, sent_at, round);
            co_await let_go(*call_, *round_);
            if (!goes_on()) {
                if (!call_->finished() && no_reply_.code)
                    throw sync::worded_error{no_reply_}; // it is unknown whether the lock is busy
                co_return nullptr;
            }
            home_->tell_waiting(*call_);
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
        home_->queues().find(sync::key_of(*call_))->note_request(home_->now());
        for (std::size_t which = 0; which < of_.members.size(); ++which)
            round_->ask(which, {.lease = lease_});
        co_await until_answered(duration::zero());
        for (std::size_t which = 1; which < of_.members.size(); ++which)
            if (comes_before(which, first_))
                first_ = which;
    }

    /// Asks one member, and waits for it as long as the call's timeout allows. Then asks the other
    /// members. Waits a short time for a member that comes later in the common order. Does not wait
    /// for a member that comes earlier, because the call that holds that member may wait for a
    /// member of this call.
    asio::awaitable<void> ask_in_turn(int round) {
        const duration rest = call_->wanted.give_up_at - home_->now();
        round_->ask(first_, {.timeout = rest, .lease = lease_});
        co_await until_answered(rest);
        if (!round_->granted(first_))
            co_return;
        const duration most = std::min(moment_more * (round - 1), call_->wanted.lease / 10);
        for (std::size_t which = 0; which < of_.members.size(); ++which)
            if (which != first_) {
                const duration moment = comes_before(which, first_) ? duration::zero() : most;
                round_->ask(which, {.timeout = moment, .lease = lease_});
            }
        co_await until_answered(most);
        note_busy();
        co_await lengthen_first();
    }

    /// Waits for the replies. Ends the round at once if a member does not grant its lock. If the
    /// last request got no reply, waits only until the deadline of the call, even if requests are
    /// pending then.
    asio::awaitable<void> until_answered(duration timeout) {
        const time_point limit = answered_by(*home_, *round_, timeout);
        // g++ 12 destroys a temporary lambda twice here, so the lambda is stored in a variable.
        const auto decided = [this] { return round_->open() == 0 || fails(); };
        co_await wait_for_answers(*call_, std::min(limit, call_->wanted.give_up_at), decided);
        if (goes_on() || !no_reply_.code)
            co_await wait_for_answers(*call_, limit, decided);
        for (std::size_t which = 0; which < round_->size(); ++which)
            if (round_->has_answered(which) && !round_->answer(which).server.empty())
                servers_[which] = round_->answer(which).server;
        if (!call_->finished() && round_->open() > 0 && !fails() && home_->now() >= limit)
            throw_unanswered();
    }
    /// Returns whether the member `one` comes before the member `other` in the order that all
    /// clients use. If the servers are not known, members with the same name are in the order of
    /// the user's list.
    bool comes_before(std::size_t one, std::size_t other) const {
        return std::tie(of_.members[one]->name.text, servers_[one], one) <
               std::tie(of_.members[other]->name.text, servers_[other], other);
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

    /// Extends the lease of the member that was asked first. If the lease is not renewed, it would
    /// otherwise end earlier at this member than at the other members.
    asio::awaitable<void> lengthen_first() {
        if (!lease_ || fails() || round_->open() > 0)
            co_return;
        co_await extend_part(*call_, round_->answer(first_).got, *lease_);
    }

    /// Returns when the next round begins. If a member failed and a retry cannot help, throws the
    /// member's error.
    time_point next_round(sync::retry_policy& trouble, sync::pauses& pause, time_point sent_at,
                          int round) {
        const sync::failure why = first_failure(*round_, of_.members);
        if (!why.code) {
            trouble.over();
            note({});
            return round > 1 ? sync::later(home_->now(), pause.next()) : home_->now();
        }
        try {
            throw sync::worded_error{why};
        } catch (const boost::system::system_error& e) {
            const time_point next = trouble.next_try(e, sent_at);
            note(why);
            return next;
        }
    }

    /// Records whether the last request to a member got a reply; `no_reply` is the error of a
    /// request without a reply. The calls behind this call in the local queue need this error, too.
    void note(sync::failure no_reply) {
        sync::gate& door = *home_->queues().find(sync::key_of(*call_));
        no_reply_ = std::move(no_reply);
        if (no_reply_.code)
            door.note_no_reply(no_reply_);
        else
            door.note_reply(false);
    }

    asio::awaitable<void> pause_until(time_point until) {
        const time_point end = std::min(until, call_->wanted.give_up_at);
        co_await wait_for_answers(*call_, end, [] { return false; });
    }

    /// Counts the rounds in which all members granted their locks, but the first lease expired
    /// before the last grant arrived. Throws after too many such rounds.
    void refuse_late_grants() {
        if (call_->finished() || round_->open() > 0 || fails())
            return;
        if (++late_grants_ == late_grants_max)
            throw sync::worded_error{{make_error_code(errc::unreachable),
                                      "the answers of all members took longer than the lease of " +
                                          std::to_string(call_->wanted.lease.count()) + " ms, " +
                                          std::to_string(late_grants_max) + " times"}};
    }

    std::shared_ptr<composite_hold> all_granted() {
        for (std::size_t which = 0; which < round_->size(); ++which)
            if (!round_->granted(which) || !round_->answer(which).got.is_valid())
                return nullptr;
        auto of = std::static_pointer_cast<const composite_descriptor>(call_->wanted.of);
        auto held = std::make_shared<composite_hold>(std::move(of), call_->wanted);
        for (std::size_t which = 0; which < round_->size(); ++which)
            held->join(which, std::move(round_->answer(which).got));
        tell_acquired(*call_, *held); // comes first, because begin() may report a loss
        held->begin(round_.keep());
        return held;
    }

    const std::shared_ptr<sync::acquisition> call_;
    const std::shared_ptr<sync::engine> home_;
    const multi_descriptor& of_;
    retired_with_scope round_;
    std::optional<duration> lease_{};
    std::vector<std::string> servers_; ///< identity of each member's server; empty: not known
    std::size_t first_ = 0;            ///< the member that the next round waits for
    sync::failure no_reply_{};         ///< why the last request got no reply; empty: it got one
    int late_grants_ = 0;
};

} // namespace

asio::awaitable<std::shared_ptr<sync::lock_handle>>
multi_descriptor::take(std::shared_ptr<sync::acquisition> call) const {
    all_members members_of{std::move(call), *this};
    std::shared_ptr<sync::lock_handle> held = co_await members_of.take();
    co_return held;
}

// Takes the first member that becomes free. The call waits for all members at the same time. After
// the first grant, the call cancels its requests to the other members.

namespace {

/// Returns the index of the first member that granted its lock, or `size()` if none did.
std::size_t granted_one(const member_requests& round) {
    std::size_t which = 0;
    while (which < round.size() && !(round.granted(which) && round.answer(which).got.is_valid()))
        ++which;
    return which;
}

bool all_failed(const member_requests& round) {
    for (std::size_t which = 0; which < round.size(); ++which)
        if (!round.failed(which))
            return false;
    return true;
}

/// Returns whether a member's lock was granted, but lost before the call could use the grant.
bool lost_one(const member_requests& round) {
    for (std::size_t which = 0; which < round.size(); ++which)
        if (round.granted(which) && !round.answer(which).got.is_valid())
            return true;
    return false;
}

/// Maximum number of grants that are lost before the call can use them. After this number, the call
/// fails.
constexpr int losses_max = 3;

bool goes_on(const sync::acquisition& call) {
    return call.wanted.patient && call.home->now() < call.wanted.give_up_at;
}

} // namespace

asio::awaitable<std::shared_ptr<sync::lock_handle>>
any_descriptor::take(std::shared_ptr<sync::acquisition> call) const {
    for (int losses = 0; losses < losses_max; ++losses) {
        const retired_with_scope round{
            std::make_shared<member_requests>(home, members, call->wake())};
        const duration rest = call->wanted.give_up_at - home->now();
        request_options how{.timeout = call->wanted.patient ? rest : duration::zero()};
        if (!call->wanted.renewed)
            how.lease = call->wanted.lease;
        round->ask_all(how);
        const time_point limit = answered_by(*home, *round, how.timeout);
        auto decided = [&round] {
            return round->open() == 0 || granted_one(*round) < round->size();
        };
        co_await wait_for_answers(*call, limit, decided);
        const std::size_t which = granted_one(*round);
        if (call->finished())
            co_return nullptr;
        if (which < round->size())
            co_return round->answer(which).got.take();
        if (all_failed(*round))
            throw sync::worded_error{first_failure(*round, members)};
        if (!lost_one(*round) || !goes_on(*call))
            co_return nullptr;
        co_await let_go(*call, *round);
    }
    throw sync::worded_error{
        {make_error_code(errc::unreachable),
         "the granted locks were lost at once, " + std::to_string(losses_max) + " times"}};
}

} // namespace holdfast::compose
