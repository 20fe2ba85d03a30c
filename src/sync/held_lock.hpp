// SPDX-License-Identifier: Apache-2.0
// Types for a lock that the store has granted to this client: the result of the acquisition
// (`grant`), and the hold that this result creates (`held_lock`).
#pragma once

#include "sync/lease_validity.hpp"
#include "sync/lock_handle.hpp"

#include <holdfast/observer.hpp>
#include <holdfast/store.hpp>

#include <boost/intrusive/set_hook.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Result of a successful acquisition. The validity of the grant counts from `sent_at`, the time
/// when the request was sent.
struct grant {
    owner_id owner;
    time_point sent_at;
    duration term;
    std::uint64_t token;  ///< fencing token of a fenced lock, else 0
    std::uint32_t tokens; ///< number of consecutive tokens, from `token` on
    /// Time after which the store executes no earlier request of this owner. Before this time, the
    /// store may still execute a request whose reply was lost, even after the release.
    time_point settled_at;
    std::optional<duration> left_before{}; ///< see `answer::left_before`
    /// Whether `term` is shorter than the lease, because no request has asked for the whole lease
    /// yet.
    bool is_brief = false;
};

// A hold in the store (`held_lock`). It has one owner number, and exists from its grant to its end.
//
//   held ──release──▶ releasing ──▶ ended
//     └──refused, term over, forced──▶ lost
//
// Leases and threads share the hold; the local wait queue (`gate`) owns it. Any thread may ask for
// the state of the hold, so a mutex guards the state. Only the executor changes the state, except
// in `share` and `unshare`. So the executor reads the state without the mutex.

class engine;
struct request;

class held_lock final : public lock_handle,
                        public revalidator,
                        public std::enable_shared_from_this<held_lock> {
public:
    enum class phase : std::uint8_t { held, releasing, ended, lost };

    held_lock(const request&, const grant&);

    /// Creates the hold of the next local owner from the hold of the present owner. In the store,
    /// both are the same hold, with the same expiry.
    held_lock(const held_lock& handed_on, const request& of_next_owner);

    hold what; ///< constant, but confirmed() may change the number of replicas
    const time_point granted_at;
    const time_point settled_at; ///< see `grant::settled_at`
    const time_point taken_at;   ///< when the store granted the hold, before any hand-off
    /// How long the store keeps the effect of a request that it executes late: a hold, or an entry
    /// in a queue.
    const duration late_lasts;
    const std::uint32_t handed_on; ///< number of hand-offs so far

    // Functions that any thread may call.
    std::string_view name() const noexcept override { return what.name.text; }
    std::string owner() const override { return to_string(what.owner); }
    lock_kind kind() const noexcept override { return what.kind; }
    duration remaining() const noexcept override;
    std::stop_token lost() const override;
    std::stop_token in_danger() const override;
    std::stop_token asked() const override;
    std::optional<wish> received_wish() const override;
    bool renewed() const noexcept override { return renewed_; }
    event_cause why_lost() const override;
    bool out_of_time() const override;
    void stay_with_its_holder() noexcept override { stays_ = true; }
    bool stays_with_its_holder() const noexcept { return stays_; }
    unsigned replicas() const noexcept override;
    std::uint64_t token() const noexcept override { return token_; }
    std::vector<std::string> permit_ids() const override;
    bool share() override;
    /// Ends the share of one lease or thread. The result says whether other shares are left. If no
    /// share is left, the caller must release the hold at the store.
    enum class left { others, nobody, was_lost, was_ended };
    left unshare();
    void thread_ended() noexcept override;
    void thread_came_back() noexcept override;
    /// Returns whether more than one lease or running thread shares this hold.
    bool shared_by_others() const;
    bool deferred() const noexcept override { return deferred_; }
    /// Returns how long the waiters of this lock sleep, at most, between two polls. The result is
    /// zero if they do not poll.
    duration polled_within() const { return polled_within_; }
    void announce_release() noexcept override { ++releases_announced_; }
    bool release_follows() const noexcept { return releases_announced_ > 0; }

    // Functions that only code on the executor may call.
    void extend(duration, release_handler) override;
    void renew_from_now_on(duration lease) override;
    void confirm(unsigned replicas, release_handler) override;
    void release(release_handler, const asio::any_io_executor& where) override;
    asio::awaitable<ticket> detach() override;
    void abandon() override;
    std::shared_ptr<lock_handle> whole() override { return shared_from_this(); }
    /// Returns a pointer that keeps one share of this hold. The share ends with the pointer.
    std::shared_ptr<lock_handle> one_share();
    void release_unwaited(const asio::any_io_executor& where,
                          const std::function<bool()>& sent_off) override;
    void revalidate() noexcept override; ///< sends a renewal request at once
    time_point ends_at() const;          ///< time when the hold expires, by this process's clock
    /// Returns the cause to report when the hold expires: `max_hold` if that limit was reached,
    /// otherwise `term_ended`.
    event_cause cause_of_expiry() const {
        return out_of_time() ? event_cause::max_hold : event_cause::term_ended;
    }
    duration lease() const { return lease_; }
    /// Returns the lease of the hold. If the store granted a shorter time last (a session), returns
    /// that time. The times of renewals, warnings and hand-overs are computed from the result.
    duration effective_lease() const { return std::min(lease_, given_); }
    /// Returns the time that the store granted last, which it would also grant to a new owner.
    /// Returns `duration::max()` if the store grants any requested lease.
    duration given() const { return given_; }
    /// Returns whether the hold would end too early without renewal requests. This is the case if
    /// the hold is renewed, or if its lease is longer than the session.
    bool needs_requests() const;
    /// Returns whether the next owner can get a fencing token: another token is reserved, or the
    /// lock has no tokens.
    bool has_token_for_next_owner() const;
    phase now_in() const { return phase_; }
    /// Returns until when the store may still have the hold. After that time there is nothing to
    /// release. The result is the latest possible arrival of the last request, plus the whole
    /// lease.
    ///
    /// In a store with sessions, the result is the end of the validity that the store reported
    /// last, because the engine does not know when the session ends. After that time, the store
    /// itself repeats a release that was not acknowledged.
    time_point store_forgets_at() const;
    /// Returns the time until which the store may have this hold, or the result of a late request.
    /// A late request may create an entry in a queue, which lasts longer than the lease.
    time_point remains_until() const;
    /// Links a read hold of this client to this write hold: the store keeps this write hold at
    /// least as long as the read hold.
    void stands_with(std::shared_ptr<held_lock> read);
    /// Records that a request for a linked read hold begins; from now on, the store may grant it.
    /// `end_linked_request(until)` records its end. If the reply was lost and the store granted the
    /// request, that grant has expired at `until`.
    void begin_linked_request() { ++ensure_linked_holds().asked; }
    bool has_linked_request() const { return linked_ && linked_->asked > 0; }
    void end_linked_request(time_point until);
    /// Records in each linked read hold that the store has released this write hold.
    void tell_linked_of_release() const;
    /// Records in this read hold that the store has released a write hold that was linked to it.
    void note_released_write(const hold& write);
    /// Returns the last few write holds that were linked to this read hold and then released. A
    /// failover may undo the release of a write hold. The store then keeps the write hold as long
    /// as the read hold.
    std::vector<hold> released_writes() const;
    /// Records a granted request that was sent at `sent_at` and asked for the lease `asked`, or for
    /// no lease. The store granted the time `term`, and `replicas` replicas confirmed it. If the
    /// hold requires more than `replicas` replicas by now, its expiry in this process stays the
    /// same, although the store may keep the hold longer.
    void extended(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// Records a granted request, as extended() does. The hold then requires `replicas` replicas,
    /// if they are more than before and have confirmed its whole remaining time.
    void confirmed(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// Records that a request got no reply. The store may have executed the request.
    void perhaps_extended(duration asked);
    /// Returns whether a warning of a possible loss may be due: the hold needs renewal requests,
    /// and neither the present danger nor the loss was reported yet.
    bool to_be_warned() const { return needs_requests() && !untried && !warned && !told_lost; }
    /// Sets the length of the lease, and whether it is renewed.
    void set_lease(duration, bool renewed);
    /// Records the remaining time of the hold, as the store reported it. The store measured this
    /// time when it received a request that this client had sent at `sent_at`. If another program
    /// shortened a read hold, this client renews it more often. Any program may change the lease of
    /// a permit, so a permit with a fixed lease expires at the time that the store reports.
    void note_left(time_point sent_at, duration rest);
    /// Returns whether other programs may shorten the hold. If so, each renewal request asks for
    /// the whole remaining time.
    bool may_be_shortened() const;
    /// Returns whether a reply that arrived at the time `t` or later has prolonged the hold.
    bool extended_since(time_point t) const { return extended_at_ >= t; }
    /// Estimates, from earlier replies, how long the store keeps the hold if another program
    /// shortens it right after a renewal request.
    duration kept_by_others() const { return kept_by_others_; }
    void warn(); ///< requests the stop of the in_danger() tokens
    /// Stores a wish for this hold, and requests the stop of the asked() tokens. On a caller's
    /// thread that runs its own operation, it requests the stop later, on the executor.
    void note_wish(wish);
    /// Returns whether a wish was stored by note_wish(). A hold with a wish is released at the
    /// store, and not passed on within this client.
    bool was_asked() const { return received_wish().has_value(); }
    /// Sets the alarm that rings when the hold ends. A null pointer removes the alarm. The alarm
    /// belongs to the coroutine that listens for wishes.
    void set_wish_alarm(alarm* wake) { wishes_->wake = wake; }
    /// Requests the stop of all tokens that lost() has returned. Returns false if the hold had
    /// ended before.
    bool lose(event_cause);
    void give_up(); ///< does the same when the client closes, but a release stays possible
    /// Stores why the hold was lost, unless a cause is already stored. If the store replied that
    /// the hold is gone, a force_unlock() of this client may have removed it. In that case
    /// (`forces` is not 0), the cause is `forced`.
    void note_loss(event_cause);
    bool deserted() const;  ///< whether all threads that share it have ended
    void take_all_shares(); ///< makes the next release the last one
    void begin_release();
    void end_release();

    // Members that the renewal uses.
    using schedule_hook = boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>>;
    int extensions = 0; ///< number of extensions under way
    /// Number of force_unlock() calls of this client that have removed the hold, or are still
    /// running and may remove it.
    int forces = 0;
    schedule_hook in_schedule;
    std::shared_ptr<held_lock> kept; ///< reference to the hold itself, while it is in the schedule
    std::unique_ptr<watch> watched;  ///< set if the store can report that the hold may be gone
    time_point acts_at{};            ///< time of its next action; its position in the schedule
    time_point request_at{};
    duration round_trip{};   ///< round trip time of the last request
    time_point asked_at{};   ///< when the last renewal request was sent
    duration answer_wait{};  ///< how long to wait for the reply; zero: no request is pending
    int in_flight = 0;       ///< number of pending renewal requests
    int refusals = 0;        ///< number of consecutive refusals
    bool once_more = false;  ///< true: send another request right after the next reply
    bool unanswered = false; ///< true: the last renewal request got no reply
    /// True if the hold has less time left than a whole lease, and its first renewal has no reply
    /// yet. The reason is that the lease was fixed before, or that the grant was brief
    /// (`grant::is_brief`).
    std::atomic<bool> untried = false;
    bool abandoned = false;     ///< true: the holding thread has ended without a release
    bool warned = false;        ///< true: the present danger was reported
    bool told_lost = false;     ///< true: the loss was reported, see engine::tell_lost()
    bool others_listen = false; ///< whether other clients listened at the last release of the lock

private:
    /// Holds of this client on the other side (read or write) of the same lock, see stands_with(),
    /// and the number of pending requests for them. Few holds need this object.
    struct linked_holds {
        int asked = 0;
        std::vector<std::shared_ptr<held_lock>> there{};
        std::vector<hold> released{}; ///< see released_writes(); the latest is at the end
    };

    /// State of a hold whose asked() was called. Few holds need this object.
    struct wish_state {
        std::stop_source source{};
        std::optional<wish> received{};
        alarm* wake = nullptr; ///< only the executor uses it
    };

    void wake_listener() const noexcept;
    linked_holds& ensure_linked_holds();
    void throw_if_not_detachable() const;
    std::mutex& mutex() const;
    // Call these functions under the mutex only.
    bool term_is_over() const;
    /// Returns whether the hold was lost, or has expired although this was not reported yet.
    bool is_over() const;
    bool is_near_the_end() const; ///< returns whether a warning is due by the clock
    void fire(std::stop_source&);
    void end_danger();
    void set_cause(event_cause);
    /// Returns how long the store keeps a hold if the lease `asked` was requested for it.
    duration lasts_there(duration asked) const;

    const std::uint64_t token_;
    const std::uint32_t more_tokens_; // number of further reserved tokens
    const bool deferred_;
    const duration polled_within_;
    std::atomic<bool> stays_ = false;
    std::atomic<bool> renewed_;
    bool given_up_ = false;
    phase phase_ = phase::held;
    event_cause lost_because_ = event_cause::none;
    std::atomic<std::uint32_t> releases_announced_ = 0; // announced releases that have not begun
    std::uint32_t shares_ = 1;
    std::uint32_t ended_threads_ = 0; // number of ended threads that still have a share
    time_point valid_until_;
    time_point store_forgets_at_;
    duration lease_;
    // In a store with sessions, `given_` is the session's remaining time at the last reply, and
    // `lease_ends_at_` is the end of the lease by the local clock. Other stores grant the requested
    // lease and end it themselves, so both values are unlimited for these stores.
    duration given_ = duration::max();
    time_point lease_ends_at_ = time_point::max();
    // Time of the last reply that moved the expiry.
    time_point extended_at_ = time_point::min();
    duration kept_by_others_ = duration::max();
    std::unique_ptr<linked_holds> linked_;
    mutable std::unique_ptr<wish_state> wishes_; // once created, it lives as long as the hold
    // A stop source is created when a caller asks for its stop token for the first time. Most holds
    // end before any caller asks.
    mutable std::stop_source lost_{std::nostopstate};
    mutable std::stop_source danger_{std::nostopstate};
};

} // namespace holdfast::sync
