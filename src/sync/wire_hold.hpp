// SPDX-License-Identifier: Apache-2.0
// One hold as the store sees it: one owner number, from its grant to its end.
//
//   held ──release──▶ releasing ──▶ ended
//     └──refused, term over, forced──▶ lost
//
// Leases and threads share it; the gate owns it. Its state has a mutex, since any thread may ask
// for it; only the executor changes it, but for `share` and `unshare`, and so reads it without.
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

    /// The same hold at the store, in other hands: it has what is left of the term.
    wire_hold(const wire_hold& handed_on, const request& of_the_heir);

    hold what; ///< never changed, but for its number of replicas: confirmed()
    const time_point granted_at;
    const time_point settled_at; ///< see grant
    const time_point taken_at;   ///< when the store granted it, before it was ever handed on
    const duration late_lasts; ///< what a request for it takes that comes late: a hold, or a place
    const std::uint32_t handed_on; ///< so often

    // Any thread.
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
    /// One fewer. What is left to be done by the last one is to release.
    enum class left { others, nobody, was_lost, was_ended };
    left unshare();
    void thread_ended() noexcept override;
    void thread_came_back() noexcept override;
    /// Whether more than one share belongs to a lease or a thread that still lives.
    bool shared_by_others() const;
    bool deferred() const noexcept override { return deferred_; }
    /// The longest pause of those who wait for it, if they poll; else zero.
    duration polled_within() const { return polled_within_; }
    void announce_release() noexcept override { ++releases_announced_; }
    bool release_follows() const noexcept { return releases_announced_ > 0; }

    // The executor only.
    void extend(duration, release_handler) override;
    void renew_from_now_on(duration lease) override;
    void confirm(unsigned replicas, release_handler) override;
    void release(release_handler, const asio::any_io_executor& where) override;
    void abandon() override;
    std::shared_ptr<tenure> whole() override { return shared_from_this(); }
    /// The same hold, in a pointer that stands for one share of it.
    std::shared_ptr<tenure> one_share();
    void release_unwaited(const asio::any_io_executor& where,
                          const std::function<bool()>& sent_off) override;
    void doubt() noexcept override; ///< asks the store at once
    time_point ends_at() const;     ///< believed until then, whatever else happens to it
    bool out_of_time() const;       ///< renewed for as long as `max_hold` allows
    duration lease() const { return lease_; }
    /// By which it is contacted, warned and handed on: the lease, or what the store gave last, if
    /// that is shorter (a session).
    duration pace() const { return std::min(lease_, given_); }
    /// So much the store gave, or would give the next one; no bound: whatever is asked for.
    duration given() const { return given_; }
    /// It ends early if it is not contacted: it is renewed, or longer than a session.
    bool needs_contact() const;
    /// The store reserved another fencing token for whoever has it next, or it needs none.
    bool has_token_for_heir() const;
    phase now_in() const { return phase_; }
    /// Until when the store may still have it: the whole lease, counted from the last answer's
    /// latest arrival. Nothing needs releasing after that.
    time_point store_forgets_at() const;
    /// Until when the store may have it, or what a request for it takes that comes late. Such a
    /// one may take a place in a queue, which lasts longer than the lease.
    time_point remains_until() const;
    /// A read hold of this client stands with this write hold: while that is kept, so is this one.
    void stands_with(std::shared_ptr<wire_hold> read);
    /// Such a one is asked for, and may be there already; `until` then when what nobody heard of
    /// is gone.
    void begin_company() { ++some_company().asked; }
    bool is_asked_for_company() const { return company_ && company_->asked > 0; }
    void end_company(time_point until);
    /// Notes with each read hold of this client that stands with this write hold that the store has
    /// released the write hold.
    void tell_company_of_release() const;
    /// Notes that the store has released a write hold that stood with this read hold.
    void note_released_write(const hold& write);
    /// Returns those write holds, of which only the last few are kept. A failover may lose such a
    /// release. Then the store has the write hold again, and keeps it as long as the read hold.
    std::vector<hold> released_writes() const;
    /// What was sent at `sent_at` asked for a lease of that length, or none, and was granted for
    /// `term`, confirmed by so many replicas. Fewer than it needs by now: only the store keeps it
    /// for so long.
    void extended(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// The same. If they are more than it needed before, and what they confirmed is all that is
    /// believed, it needs so many from now on.
    void confirmed(time_point sent_at, duration asked, duration term, unsigned replicas);
    /// One was sent and never answered: it may have been carried out.
    void perhaps_extended(duration asked);
    /// Its end may yet be moved, and it was neither warned of the danger that lasts now nor told
    /// that it is lost.
    bool to_be_warned() const { return needs_contact() && !untried && !warned && !told_lost; }
    /// From now on of this length, and renewed or not.
    void set_lease(duration, bool renewed);
    /// Takes note of what the store had left of it when a contact came that was sent at `sent_at`.
    /// A read hold may have been shortened by another program, and is contacted more often then.
    /// The lease of a permit may have been set by anybody: one that is not renewed ends as the
    /// store says.
    void note_left(time_point sent_at, duration rest);
    /// Other programs may shorten it, so it is asked for with its whole term at each contact.
    bool may_be_shortened() const;
    /// How long the store keeps it if another program shortens it right after a contact, as far as
    /// that is known.
    bool extended_since(time_point t) const { return extended_at_ >= t; }
    duration kept_by_others() const { return kept_by_others_; }
    void warn();            ///< fires in_danger
    bool lose();            ///< fires lost; false if it was not held
    void give_up();         ///< fires lost, but may still be released (the client closes)
    bool deserted() const;  ///< all threads that still share it have ended
    void take_all_shares(); ///< whoever shares it: the next to leave is the last
    void begin_release();
    void end_release();

    // Of the renewal.
    using agenda_hook = boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>>;
    int extensions = 0; ///< so many are under way
    agenda_hook in_agenda;
    std::shared_ptr<wire_hold> kept; ///< itself, while it is in the agenda
    std::unique_ptr<watch> watched;  ///< where the store can tell that a hold may be gone
    time_point acts_at{};            ///< its place in the agenda
    time_point contact_at{};
    duration round_trip{};   ///< of the last answer
    time_point asked_at{};   ///< when the last contact was sent
    duration answer_wait{};  ///< until the next one; zero: nothing sent is still unanswered
    int in_flight = 0;       ///< so many contacts are under way
    int refusals = 0;        ///< so many in a row
    bool once_more = false;  ///< another one is wanted, as soon as that is answered
    bool unanswered = false; ///< the last one was not answered
    /// It was fixed, and its first renewal is still to be answered.
    std::atomic<bool> untried = false;
    bool abandoned = false;     ///< nobody is left to release it
    bool warned = false;        ///< of the danger that lasts now
    bool told_lost = false;     ///< the observer was, see engine::tell_lost()
    bool others_listen = false; ///< as the store said when the lock was last released

private:
    /// What stands, or is to stand, with it: see stands_with(). Few have any.
    struct company {
        int asked = 0;
        std::vector<std::shared_ptr<wire_hold>> there{};
        std::vector<hold> released{}; ///< see released_writes(); the last one last
    };

    company& some_company();
    std::mutex& mutex() const;
    // Under the mutex.
    bool term_is_over() const;
    bool is_over() const;         ///< lost, or its term is over and nobody was told yet
    bool is_near_the_end() const; ///< a warning is due, as the clock has it
    void fire(std::stop_source&);
    void end_danger();
    duration lasts_there(duration asked) const; ///< what a request for so much makes of it

    const std::uint64_t token_;
    const std::uint32_t more_tokens_; // reserved behind that one
    const bool deferred_;
    const duration polled_within_;
    std::atomic<bool> stays_ = false;
    std::atomic<bool> renewed_;
    bool given_up_ = false;
    phase phase_ = phase::held;
    std::atomic<std::uint32_t> releases_announced_ = 0; // and not begun
    std::uint32_t shares_ = 1;
    std::uint32_t ended_threads_ = 0; // that still have a share
    time_point believed_until_;
    time_point store_forgets_at_;
    duration lease_;
    // Where holds last as long as a session, that is given, and the lease ends by our own clock.
    // Else neither bounds anything: the store gives what is asked for, and ends it.
    duration given_ = duration::max();
    time_point lease_ends_at_ = time_point::max();
    time_point extended_at_ = time_point::min(); // when the last answer came that moved its end
    duration kept_by_others_ = duration::max();
    std::unique_ptr<company> company_;
    // Made when first asked for: most holds end without anybody asking.
    mutable std::stop_source lost_{std::nostopstate};
    mutable std::stop_source danger_{std::nostopstate};
};

} // namespace holdfast::sync
