// SPDX-License-Identifier: Apache-2.0
// A hold of several: so many parts, of which `needs` must be believed.
//
//   held ──release──▶ ended
//     └──fewer than `needs` are believed──▶ lost, and the rest is released
//
// Its parts live at their own clients, renewed there. It has no time of its own: what remains is
// what remains of the parts. What changes it happens on the executor of its own client; the parts'
// stop tokens bring it there.
#pragma once

#include "compose/joint_subject.hpp"
#include "compose/part.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace holdfast::compose {

/// How many have a part.
struct vote_count {
    std::size_t members, needs, held;
};

class joint_hold final : public sync::tenure, public std::enable_shared_from_this<joint_hold> {
public:
    joint_hold(std::shared_ptr<const joint_subject>, const sync::request&);
    ~joint_hold() override;

    // Any thread.
    std::string_view name() const noexcept override { return of_->name.text; }
    std::string_view entry() const noexcept override { return of_->entry(); }
    std::string owner() const override;
    lock_kind kind() const noexcept override { return of_->kind; }
    std::vector<const sync::engine*> homes_of_parts() const override { return of_->homes(); }
    duration remaining() const noexcept override;
    std::stop_token lost() const override;
    std::stop_token in_danger() const override;
    bool renewed() const noexcept override { return renewed_; }
    unsigned replicas() const noexcept override { return of_->replicas; } ///< of each part
    bool share() override;
    void thread_ended() noexcept override;
    void thread_came_back() noexcept override;
    bool deferred() const noexcept override { return false; }
    void announce_release() noexcept override {}
    std::shared_ptr<tenure> hold_of(std::size_t which) const; ///< null: it has none
    std::vector<std::uint64_t> tokens() const;                ///< by member
    vote_count votes() const;
    bool is_quorum() const noexcept { return quorum_ != nullptr; } ///< parts may come and go

    // The executor only.
    /// One more part, which counts after `counts_in`. One that comes too late is let go of.
    void join(std::size_t which, part, duration counts_in = {});
    /// It has what it needs: from now on its loss is reported. Members that are still open in
    /// `asked` may join later; of a quorum, others are asked again.
    void begin(std::shared_ptr<inquiry> asked);
    void extend(duration, sync::release_handler) override;
    void renew_from_now_on(duration lease) override;
    void confirm(unsigned replicas, sync::release_handler) override; ///< fails
    void release(sync::release_handler, const asio::any_io_executor& where) override;
    void release_unwaited(const asio::any_io_executor& where,
                          const std::function<bool()>& sent_off) override;
    void abandon() override;
    std::shared_ptr<tenure> whole() override { return shared_from_this(); }

    // Of tend().
    duration lease() const { return lease_; }
    bool is_to_tend() const;  ///< it misses a part that it may still get
    bool is_attended() const; ///< that, or a part may end without a word
    void attend();            ///< notes what has ended, and asks for what is missing
    void tended_by(alarm* sleeping) { tending_ = sleeping; } ///< rung when that is over
    void not_tended() { is_tended_ = false; }

private:
    enum class phase : std::uint8_t { held, ended, lost };
    /// Brings it to the executor that a part, or the client, has ended or may end.
    struct news {
        std::weak_ptr<joint_hold> whose;
        std::shared_ptr<sync::engine> home;
        void operator()() const noexcept;
    };
    using bell = std::stop_callback<news>;
    struct seat {
        part has{};
        time_point counts_from{};
        std::unique_ptr<bell> loss{}, danger{};
        bool warned = false; ///< as its bell said last
    };

    // Under the mutex.
    bool believes(const seat& each) const { return counts(each) && each.has.believed(); }
    bool counts(const seat&) const;
    bool is_over() const; ///< it is lost, or its parts are and nobody was told yet
    std::size_t count_believed() const;
    std::size_t count_well() const; ///< and in no danger
    duration remaining_of_parts() const;

    void arm(seat&);
    void review();
    void lose();
    void lose_soon();
    void give_up(); ///< the client closes: it may still be released
    void warn();
    void ask_missing(); ///< for parts of their own, once
    void tell_end(const sync::failure&);
    void tend_if_needed();
    void stop_tending();
    void desert_parts(); ///< their renewal ends, unless others share them
    std::vector<part> take_parts(phase);
    using tenures = std::vector<std::shared_ptr<tenure>>;
    tenures parts() const;

    const std::shared_ptr<const joint_subject> of_;
    const quorum_subject* const quorum_; // the same, or null
    const time_point granted_at_;
    duration lease_;
    std::atomic<bool> renewed_;
    mutable std::mutex mutex_;
    std::vector<seat> seats_; // one for each member
    phase phase_ = phase::held;
    std::uint32_t shares_ = 1;
    std::uint32_t ended_threads_ = 0; // since the last abandon()
    bool parts_deserted_ = false;
    bool given_up_ = false;
    bool abandoned_ = false;
    std::stop_source lost_;
    mutable std::stop_source danger_;
    std::shared_ptr<inquiry> asked_;
    std::unique_ptr<bell> closing_;
    alarm* tending_ = nullptr;
    bool is_tended_ = false;
    bool has_far_ = false; ///< a part of a client with another executor, which may stop
};

/// While it is held: sees what ended without a word, and asks members that have no part, every
/// third of the lease.
asio::awaitable<void> tend(std::weak_ptr<joint_hold>, std::shared_ptr<sync::engine>);

} // namespace holdfast::compose
