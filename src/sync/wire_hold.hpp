// SPDX-License-Identifier: Apache-2.0
// One hold in the store: one owner number, from its grant to its end (`wire_hold`).
//
//   held ──release──▶ releasing ──▶ ended
//     └──refused, term over, forced──▶ lost
//
// Leases and threads share it, and the gate owns it. Any thread may ask for its state, so a mutex
// guards the state. Only the executor changes the state, except in `share` and `unshare`. So the
// executor reads it without the mutex.
#pragma once

#include "sync/grant.hpp"
#include "sync/lease_term.hpp"
#include "sync/tenure.hpp"

#include <holdfast/observer.hpp>
#include <holdfast/store.hpp>

#include <boost/intrusive/set_hook.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

namespace holdfast::sync {

class engine;
struct request;

class wire_hold final : public tenure,
                        public doubter,
                        public std::enable_shared_from_this<wire_hold> {
public:
    enum class phase : std::uint8_t { held, releasing, ended, lost };

    wire_hold(const request&, const grant&);

    /// Makes the hold of the next local owner from the old one. It is the same hold in the store,
    /// and has the rest of its term.
    wire_hold(const wire_hold& handed_on, const request& of_the_heir);

    hold what; ///< constant, but confirmed() may change the number of replicas
    const time_point granted_at;
    const time_point settled_at; ///< see `grant::settled_at`
    const time_point taken_at;   ///< when the store granted it, before any hand-off
    /// How long the store keeps what a late request may take: a hold, or a place in a queue.
    const duration late_lasts;
    const std::uint32_t handed_on; ///< number of hand-offs so far

    // Any thread may call these.
    std::string_view name() const noexcept override { return what.name.text; }
    std::string owner() const override { return to_string(what.owner); }
    lock_kind kind() const noexcept override { return what.kind; }
    duration remaining() const noexcept override;
    std::stop_token lost() const override;
    std::stop_token in_danger() const override;
    bool renewed() const noexcept override { return renewed_; }
    void stay_with_its_holder() noexcept override { stays_ = true; }
    bool stays_with_its_holder() const noexcept { return stays_; }
    unsigned replicas() const noexcept override;
    std::uint64_t token() const noexcept override { return token_; }
    std::vector<std::string> permit_ids() const override;
    bool share() override;
    /// Ends one share. The result says whether other shares are left. If none is left, the caller
    /// must release the hold.
    enum class left { others, nobody, was_lost, was_ended };
    left unshare();
    void thread_ended() noexcept override;
    void thread_came_back() noexcept override;
    /// Returns whether more than one share belongs to a living lease or thread.
    bool shared_by_others() const;
    bool deferred() const noexcept override { return deferred_; }
    /// Returns the longest pause of waiters that poll for this lock. Zero: they do not poll.
    duration polled_within() const { return polled_within_; }
    void announce_release() noexcept override { ++releases_announced_; }
    bool release_follows() const noexcept { return releases_announced_ > 0; }

    // Executor only.
    void extend(duration, release_handler) override;
    void renew_from_now_on(duration lease) override;
    void confirm(unsigned replicas, release_handler) override;
    void release(release_handler, const asio::any_io_executor& where) override;
    void abandon() override;
    std::shared_ptr<tenure> whole() override { return shared_from_this(); }
    /// Returns a pointer that stands for one share of this hold.
    std::shared_ptr<tenure> one_share();
    void release_unwaited(const asio::any_io_executor& where,
                          const std::function<bool()>& sent_off) override;
    void doubt() noexcept override; ///< asks the store about it at once
    time_point ends_at() const;     ///< end of its term by our clock
    bool out_of_time() const;       ///< whether it was renewed for as long as `max_hold` allows
    duration lease() const { return lease_; }
    /// Returns the time by which contacts, warnings and hand-offs are scheduled. It is the lease,
    /// or the last term from the store if that is shorter (a session).
    duration pace() const { return std::min(lease_, given_); }
    /// Returns the term that the store gave last and would give a new owner. `duration::max()`:
    /// whatever is asked for.
    duration given() const { return given_; }
    /// Returns whether the hold ends early without contacts: it is renewed, or longer than a
    /// session.
    bool needs_contact() const;
    /// Returns whether the hold can be passed on: a further fencing token is reserved, or none is
    /// needed.
    bool has_token_for_heir() const;
    phase now_in() const { return phase_; }
    /// Returns until when the store may still have the hold: the whole lease after the latest
    /// possible arrival of the last request. Later there is nothing to release. In a store with
    /// sessions, the engine does not know how long the session lives, because every request of the
    /// client extends it. There this is the end of the last term from the store. After that time,
    /// the store itself repeats a release that was not acknowledged.
    time_point store_forgets_at() const;
    /// Returns until when the store may have the hold, or what a late request of it may take. A
    /// late request may take a place in a queue, which lasts longer than the lease.
    time_point remains_until() const;
    /// Links a read hold of this client to this write hold. The store keeps the write hold at least
    /// as long as the read hold.
    void stands_with(std::shared_ptr<wire_hold> read);
    /// Counts a pending request for such a linked hold, whose grant may exist already.
    /// `end_company()` ends the count. A grant whose answer was lost is gone at `until`.
    void begin_company() { ++some_company().asked; }
    bool is_asked_for_company() const { return company_ && company_->asked > 0; }
    void end_company(time_point until);
    /// Tells each linked read hold of this client that the store has released this write hold.
    void tell_company_of_release() const;
    /// Notes that the store has released a write hold that was linked to this read hold.
    void note_released_write(const hold& write);
    /// Returns the last few of those write holds. A failover may lose such a release. Then the
    /// store has the write hold again, and keeps it as long as the read hold.
    std::vector<hold> released_writes() const;
    /// Notes a granted request that was sent at `sent_at` and asked for the lease `asked`, or none.
    /// The store granted `term`, confirmed by so many replicas. If these are too few by now, the
    /// store may keep the hold longer, but its term here is not extended.
    void extended(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// Notes a granted request like extended(). If more replicas confirmed it than were needed, and
    /// they confirmed the whole rest of the term, the hold needs that many from now on.
    void confirmed(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// Notes a request without an answer: it may have been carried out.
    void perhaps_extended(duration asked);
    /// Returns whether a warning may still be due: the end may move, and neither the present danger
    /// nor the loss was reported.
    bool to_be_warned() const { return needs_contact() && !untried && !warned && !told_lost; }
    /// Sets the length of the lease, and whether it is renewed.
    void set_lease(duration, bool renewed);
    /// Notes how long the store would have kept the hold when a contact came that was sent at
    /// `sent_at`. If another program has shortened a read hold, it is contacted more often. Any
    /// program may set the lease of a permit, so a permit that is not renewed ends when the store
    /// says.
    void note_left(time_point sent_at, duration rest);
    /// Returns whether other programs may shorten the hold. Then each contact asks for the whole
    /// term.
    bool may_be_shortened() const;
    /// Returns whether an answer that came at `t` or later has moved the end of the hold.
    bool extended_since(time_point t) const { return extended_at_ >= t; }
    /// Returns how long the store keeps the hold if another program shortens it right after a
    /// contact, as far as that is known.
    duration kept_by_others() const { return kept_by_others_; }
    void warn();            ///< fires in_danger
    bool lose();            ///< fires lost; false if it was not held
    void give_up();         ///< fires lost, but a release stays possible (close)
    bool deserted() const;  ///< whether all threads that share it have ended
    void take_all_shares(); ///< makes the next release the last one
    void begin_release();
    void end_release();

    // For the renewal.
    using agenda_hook = boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>>;
    int extensions = 0; ///< number of extensions under way
    agenda_hook in_agenda;
    std::shared_ptr<wire_hold> kept; ///< the hold itself, while it is in the schedule
    std::unique_ptr<watch> watched;  ///< if the store can tell that a hold may be gone
    time_point acts_at{};            ///< its position in the schedule
    time_point contact_at{};
    duration round_trip{};   ///< round trip time of the last answer
    time_point asked_at{};   ///< when the last contact was sent
    duration answer_wait{};  ///< time for the answer; zero: no contact is unanswered
    int in_flight = 0;       ///< number of contacts under way
    int refusals = 0;        ///< number of refusals in a row
    bool once_more = false;  ///< a contact is wanted right after the next answer
    bool unanswered = false; ///< the last contact was not answered
    /// Its lease was fixed before, and its first renewal has no answer yet.
    std::atomic<bool> untried = false;
    bool abandoned = false;     ///< its thread has ended without a release
    bool warned = false;        ///< the present danger was reported
    bool told_lost = false;     ///< the loss was reported, see engine::tell_lost()
    bool others_listen = false; ///< said by the store at the last release of the lock

private:
    /// Holds that are linked to this hold, or asked for: see stands_with(). Few holds have any.
    struct company {
        int asked = 0;
        std::vector<std::shared_ptr<wire_hold>> there{};
        std::vector<hold> released{}; ///< see released_writes(); the latest is at the end
    };

    company& some_company();
    std::mutex& mutex() const;
    // Call these under the mutex.
    bool term_is_over() const;
    bool is_over() const;         ///< lost, or its term is over but not reported yet
    bool is_near_the_end() const; ///< a warning is due by the clock
    void fire(std::stop_source&);
    void end_danger();
    duration lasts_there(duration asked) const; ///< how long the store keeps a lease of that length

    const std::uint64_t token_;
    const std::uint32_t more_tokens_; // number of further tokens that are reserved
    const bool deferred_;
    const duration polled_within_;
    std::atomic<bool> stays_ = false;
    std::atomic<bool> renewed_;
    bool given_up_ = false;
    phase phase_ = phase::held;
    std::atomic<std::uint32_t> releases_announced_ = 0; // announced releases that have not begun
    std::uint32_t shares_ = 1;
    std::uint32_t ended_threads_ = 0; // ended threads that still have a share
    time_point believed_until_;
    time_point store_forgets_at_;
    duration lease_;
    // In a store with sessions, `given_` is the rest of the session, and `lease_ends_at_` is the
    // end of the lease by our own clock. In other stores both are unlimited: the store grants and
    // ends what is asked for.
    duration given_ = duration::max();
    time_point lease_ends_at_ = time_point::max();
    // When the last answer came that moved the end.
    time_point extended_at_ = time_point::min();
    duration kept_by_others_ = duration::max();
    std::unique_ptr<company> company_;
    // Made when first asked for: most holds end without such a question.
    mutable std::stop_source lost_{std::nostopstate};
    mutable std::stop_source danger_{std::nostopstate};
};

} // namespace holdfast::sync
