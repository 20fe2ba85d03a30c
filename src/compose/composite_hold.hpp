// SPDX-License-Identifier: Apache-2.0
// A hold on several locks (`composite_hold`). It has one *part* for each member that granted: the
// hold on that member. It is valid while at least `needs` parts are valid.
//
//   held ──release──▶ ended
//     └──fewer than `needs` are valid──▶ lost, and the rest is released
//
// The parts belong to their own clients, which renew them. The hold has no expiry of its own. Its
// remaining time is computed from its parts. Its state changes only on the executor of its own
// client. When a part ends, the part's stop token posts the change to that executor. The coroutine
// `keep_alive` asks again for missing parts.
#pragma once

#include "compose/composite_lock.hpp"
#include "compose/member_requests.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

namespace holdfast::compose {

/// Number of members, number of members that must be held, and number of members that are held now.
struct vote_count {
    std::size_t members, needs, held;
};

class composite_hold final : public sync::lock_handle,
                             public std::enable_shared_from_this<composite_hold> {
public:
    composite_hold(std::shared_ptr<const composite_descriptor>, const sync::request&);
    ~composite_hold() override;

    // Any thread may call the following functions.
    std::string_view name() const noexcept override { return of_->name.text; }
    std::string_view entry() const noexcept override { return of_->entry(); }
    std::string owner() const override;
    lock_kind kind() const noexcept override { return of_->kind; }
    std::vector<const sync::engine*> homes_of_parts() const override { return of_->homes(); }
    duration remaining() const noexcept override;
    std::stop_token lost() const override;
    std::stop_token in_danger() const override;
    /// Returns a stop token that is stopped when a wish for any of the members' locks arrives.
    std::stop_token asked() const override;
    /// Looks through the members' holds in their order, and returns the first wish that it finds.
    std::optional<wish> received_wish() const override;
    bool renewed() const noexcept override { return renewed_; }
    /// Returns how many replicas must confirm each part.
    unsigned replicas() const noexcept override { return of_->replicas; }
    bool share() override;
    void thread_ended() noexcept override;
    void thread_came_back() noexcept override;
    bool deferred() const noexcept override { return false; }
    void announce_release() noexcept override {}
    std::shared_ptr<lock_handle>
    hold_of(std::size_t which) const; ///< hold of that member; null if the member has no part
    /// Returns the fencing tokens of the members' holds, in the order of the members.
    std::vector<std::uint64_t> tokens() const;
    vote_count votes() const;
    /// Returns whether this is the hold of a quorum. Only the hold of a quorum may lose votes and
    /// get new votes.
    bool is_quorum() const noexcept { return quorum_ != nullptr; }

    // Call the following functions on the executor only.

    /// Adds the hold of one member. The member's hold is counted only after the time `counts_in`
    /// has passed. If this hold on several locks has ended already, releases the member's hold.
    void join(std::size_t which, part, duration counts_in = {});
    /// Starts to watch the hold; from now on, its loss is reported. Call it when enough members
    /// have granted. `asked` has the requests that were sent to the members. A member that replies
    /// later can still join the hold. A hold of a quorum_mutex also sends new requests to the
    /// members that did not grant.
    void begin(std::shared_ptr<member_requests> asked);
    void extend(duration, sync::release_handler) override;
    void renew_from_now_on(duration lease) override;
    /// Always fails, because the number of replicas of a hold on several locks cannot be changed.
    void confirm(unsigned replicas, sync::release_handler) override;
    void release(sync::release_handler, const asio::any_io_executor& where) override;
    /// Always fails: a hold on several locks cannot be detached.
    asio::awaitable<ticket> detach() override;
    void release_unwaited(const asio::any_io_executor& where,
                          const std::function<bool()>& sent_off) override;
    void abandon() override;
    std::shared_ptr<lock_handle> whole() override { return shared_from_this(); }

    // Functions for the coroutine keep_alive().

    /// Returns whether a member is missing that can be asked again.
    bool can_regain_parts() const;
    /// Returns whether can_regain_parts() is true, or a member's hold may end without a report.
    bool needs_keep_alive() const;
    void regain_parts();                ///< removes ended parts, and asks for missing parts
    time_point next_keep_alive() const; ///< returns when to call regain_parts() next
    /// Sets the alarm on which the coroutine keep_alive() sleeps. The hold rings the alarm when the
    /// coroutine must stop.
    void set_keep_alive_alarm(alarm* sleeping) { keep_alive_alarm_ = sleeping; }
    void keep_alive_ended() { keep_alive_runs_ = false; }

private:
    enum class phase : std::uint8_t { held, ended, lost };
    /// Callback that posts a check of the hold to the executor. The callback is called when a
    /// member's hold has ended or is near its end, or when the client has closed.
    struct news {
        std::weak_ptr<composite_hold> whose;
        std::shared_ptr<sync::engine> home;
        void operator()() const noexcept;
    };
    using news_callback = std::stop_callback<news>;
    struct member_part {
        part has{};
        time_point counts_from{};
        std::unique_ptr<news_callback> loss{}, danger{}, wish{};
        bool warned = false; ///< true: the part was in danger at the last check
        bool gone = false;   ///< true: note_losses() has noticed the loss of the part
    };

    // Call the next functions under the mutex.
    bool is_valid_part(const member_part& each) const {
        return counts(each) && each.has.is_valid();
    }
    bool counts(const member_part&) const;
    /// Returns whether the hold is lost, even if the loss is not reported yet.
    bool is_over() const;
    std::size_t count_valid() const;
    /// Returns the number of members' holds that are valid and in no danger of a loss.
    std::size_t count_well() const;
    duration remaining_of_parts() const;
    /// Records which members' holds were lost since the last call, and returns how many members'
    /// holds are valid. If too few are valid, the first loss that left too few becomes the cause of
    /// this hold's loss.
    std::size_t note_losses();

    void arm(member_part&);
    void review();
    void lose();
    void lose_soon();
    void give_up(); ///< reports a loss because the client closes; a release stays possible
    void warn();
    void ask_missing(); ///< asks each missing member once for a part
    using lock_handles = std::vector<std::shared_ptr<lock_handle>>;
    /// Reports the end of the hold. `released` has the members' holds. The holds that were valid
    /// when the release began come first.
    void tell_end(const sync::failure&, const lock_handles& released);
    void start_keep_alive();
    void stop_keep_alive();
    void desert_parts(); ///< stops the renewal of parts that no other holder shares
    std::vector<part> take_parts(phase);
    lock_handles parts() const;

    const std::shared_ptr<const composite_descriptor> of_;
    const quorum_descriptor* const
        quorum_; // same object as `of_`, or null if the lock is no quorum
    const time_point granted_at_;
    duration lease_;
    std::atomic<bool> renewed_;
    mutable std::mutex mutex_;
    std::vector<member_part> member_parts_; // one for each member
    phase phase_ = phase::held;
    event_cause lost_because_ = event_cause::none;
    std::uint32_t shares_ = 1;
    std::uint32_t ended_threads_ = 0; // number of threads that ended since the last abandon()
    bool parts_deserted_ = false;
    bool given_up_ = false;
    bool abandoned_ = false;
    std::stop_source lost_;
    mutable std::stop_source danger_;
    std::stop_source wish_;
    mutable bool hears_wishes_ = false; ///< true: asked() was called
    std::shared_ptr<member_requests> asked_;
    std::unique_ptr<news_callback> closing_;
    alarm* keep_alive_alarm_ = nullptr;
    bool keep_alive_runs_ = false;
    /// Time after which missing members are asked again: one renewal period after the loss of a
    /// member's hold. Until then, the renewals of the other members' holds show whether the
    /// majority is lost, too, for example after force_unlock(). A lost hold must not get new
    /// members.
    time_point regain_from_{};
    /// True if a member belongs to a client with another executor, which may stop.
    bool has_far_ = false;
};

/// Coroutine that runs as long as the hold is held. Every third of the lease time, it removes
/// members' holds that ended without a report, and asks missing members again.
asio::awaitable<void> keep_alive(std::weak_ptr<composite_hold>, std::shared_ptr<sync::engine>);

} // namespace holdfast::compose
