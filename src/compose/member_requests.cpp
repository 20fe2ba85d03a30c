// SPDX-License-Identifier: Apache-2.0
#include "compose/member_requests.hpp"

#include "sync/acquisition_loop.hpp"
#include "sync/engine.hpp"

#include <algorithm>

namespace holdfast::compose {

/// A call that acquires the lock of one member. The call reports its outcome to the object
/// `member_requests`.
class member_requests::member_call final : public sync::acquisition {
public:
    member_call(sync::request what, std::shared_ptr<member_requests> from, std::size_t which,
                std::uint64_t asked, const request_options& how)
        : acquisition{std::move(what)}
        , from_{std::move(from)}
        , which_{which}
        , asked_{asked}
        , longest_lease_{how.longest_lease}
        , waited_{how.waited}
        , follows_requests_{from_->follows_requests()} {}

    /// Reports "closed" if this call to the member was never started. This happens if the execution
    /// context of the member's client has ended.
    ~member_call() override {
        if (from_ && !home->forked())
            answer(std::move(from_), {.why = {make_error_code(errc::closed), "its client ended"}});
    }

    static void begin(std::shared_ptr<member_call> call) {
        const std::shared_ptr<sync::engine> home = call->home;
        if (call->is_near_to(*call->from_))
            return run(call);
        if (!home->executor_access().post([call] { run(call); }))
            call->complete({nullptr, {make_error_code(errc::closed), "its client is closed"}});
    }

private:
    static void run(const std::shared_ptr<member_call>& call) {
        if (call->wanted.takes)
            call->home->start(call);
        else
            call->home->spawn(sync::look_out(call));
    }

    bool follows_requests() const override { return follows_requests_ && from_; }
    /// Reports to the call for several locks that this member is busy, or that the last request to
    /// its store got no reply.
    void last_request_ended(const sync::failure* no_reply) override {
        if (!follows_requests())
            return;
        const sync::failure why = no_reply ? *no_reply : sync::failure{};
        if (is_near_to(*from_))
            return from_->request_ended(which_, asked_, why);
        auto arrive = [from = from_, which = which_, asked = asked_, why] {
            from->request_ended(which, asked, why);
        };
        (void)from_->home_->executor_access().post(std::move(arrive));
    }
    void complete(sync::outcome got) override {
        member_answer said{.got = part{std::move(got.held)}, .why = std::move(got.why)};
        if (!said.why.code)
            describe_server(said);
        said.unasked = !said.why.code && !said.got && was_not_asked();
        std::shared_ptr<member_requests> from = std::move(from_);
        if (is_near_to(*from))
            from->arrived(which_, asked_, std::move(said));
        else
            answer(std::move(from), std::move(said));
    }
    void answer(std::shared_ptr<member_requests> from, member_answer said) const {
        const std::shared_ptr<sync::engine> whose = from->home_;
        auto arrive = [from = std::move(from), which = which_, asked = asked_,
                       said = std::move(said)]() mutable {
            from->arrived(which, asked, std::move(said));
        };
        (void)whose->executor_access().post(std::move(arrive));
    }
    /// Returns whether nobody knows if the lock is busy, because the call only waited in the local
    /// queue and did not ask the store. The lock is known to be busy if this client holds it, or if
    /// the store has replied "busy" to a call of that queue since the quorum call began.
    bool was_not_asked() const {
        const sync::gate* const door = home->queues().find(sync::key_of(*this));
        const bool is_known = door && (door->holder() || door->somebody_waits_there() ||
                                       door->was_busy_after(home->now() - waited_));
        return wanted.takes && !waits_there() && !is_known;
    }
    /// Returns whether the member's client and the caller's client run on the same executor. If
    /// they do, no post is needed.
    bool is_near_to(const member_requests& from) const {
        return home->executor_access().leads_where(from.home_->executor_access());
    }

    void describe_server(member_answer& said) const {
        server_identity who = home->server_of(wanted.of->name);
        said.server = std::move(who.id);
        said.says_restarts = who.forgets_before.has_value();
        if (!who.forgets_before || !longest_lease_)
            return;
        const time_point from = sync::later(*who.forgets_before, *longest_lease_);
        if (from > started_at) // `from` may be too far in the past for a subtraction
            said.counts_in = from - started_at;
    }

    std::shared_ptr<member_requests> from_;
    const std::size_t which_;
    const std::uint64_t asked_;
    const std::optional<duration> longest_lease_;
    const duration waited_;
    const bool follows_requests_;
};

member_requests::member_requests(std::shared_ptr<sync::engine> home,
                                 const std::vector<member>& members, alarm& wake)
    : home_{std::move(home)}
    , wake_{&wake} {
    for (const member& each : members)
        member_states_.push_back({each});
}

void member_requests::ask(std::size_t which, const request_options& how) {
    member_state& one = member_states_[which];
    one.open = true;
    one.answered = false;
    one.said = {};
    sync::request wanted = sync::request_for(one.who, how.timeout, how.lease);
    wanted.takes = how.takes;
    wanted.quorum_deadline = how.quorum_deadline;
    const auto call = std::make_shared<member_call>(std::move(wanted), shared_from_this(), which,
                                                    ++one.asked, how);
    one.call = call;
    member_call::begin(call);
}

void member_requests::ask_all(const request_options& how) {
    for (std::size_t which = 0; which < member_states_.size(); ++which)
        ask(which, how);
}

void member_requests::cancel(std::size_t which) {
    member_state& one = member_states_[which];
    if (!std::exchange(one.open, false))
        return;
    ++one.asked; // so that a late reply to the earlier request is ignored
    const std::shared_ptr<sync::acquisition> call = one.call.lock();
    if (!call)
        return;
    const std::shared_ptr<sync::engine> home = call->home;
    (void)home->executor_access().post([call] { call->cancel(); });
}

std::size_t member_requests::open() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(member_states_.begin(), member_states_.end(),
                      [](const member_state& each) { return each.open; }));
}

void member_requests::forget_answers() {
    for (member_state& each : member_states_) {
        each.answered = false;
        each.said = {};
    }
}

duration member_requests::longest_time_limit() const {
    duration longest{};
    for (const member_state& each : member_states_)
        longest = std::max(longest, each.who->home->bounds().time_limit);
    return longest;
}

void member_requests::retire(late_handler late) {
    wake_ = nullptr;
    late_ = std::move(late);
    forget_answers();
}

void member_requests::request_ended(std::size_t which, std::uint64_t asked,
                                    const sync::failure& no_reply) const {
    const member_state& one = member_states_[which];
    if (wake_ && one.asked == asked && one.open)
        each_request_(which, no_reply);
}

void member_requests::arrived(std::size_t which, std::uint64_t asked, member_answer said) {
    member_state& one = member_states_[which];
    if (one.asked != asked || !one.open)
        return; // the reply is late; the destructor of `said` releases its grant
    one.open = false;
    if (!wake_) {
        if (late_)
            late_(which, std::move(said));
        return;
    }
    one.answered = true;
    one.said = std::move(said);
    wake_->ring();
}

namespace {

/// Releases the hold without waiting for the result. First ends this share of the hold.
void release_unwatched(std::shared_ptr<sync::lock_handle> share) {
    std::shared_ptr<sync::lock_handle> held = share->whole();
    share.reset();
    held->release(sync::release_handler{[](const sync::failure&) {}}, held->home->executor());
}

} // namespace

part::~part() {
    if (!held_ || held_->home->forked())
        return;
    const std::shared_ptr<sync::engine> home = held_->home;
    (void)home->executor_access().post(
        [share = std::move(held_)]() mutable { release_unwatched(std::move(share)); });
}

} // namespace holdfast::compose
