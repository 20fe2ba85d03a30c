// SPDX-License-Identifier: Apache-2.0
// Requests of one call to the members of a lock that consists of several locks (`member_requests`),
// and the holds that the members grant (`part`).
#pragma once

#include "sync/acquisition.hpp"
#include "sync/lock_handle.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::compose {

/// Part of a hold on several locks: the hold of one member. A part is the only owner of that hold.
/// The destructor releases the hold through the member's client, without waiting. Thread safety:
/// none, but any thread may destroy a part.
class part {
public:
    part() = default;
    explicit part(std::shared_ptr<sync::lock_handle> held)
        : held_{std::move(held)} {}
    part(part&&) noexcept = default;
    part& operator=(part&& other) noexcept {
        const part dropped{std::move(held_)};
        held_ = std::move(other.held_);
        return *this;
    }
    ~part();

    explicit operator bool() const noexcept { return held_ != nullptr; }
    const std::shared_ptr<sync::lock_handle>& hold() const noexcept { return held_; }
    bool is_valid() const noexcept { return held_ && held_->is_valid(); }

    /// Moves the hold out. The caller must release it.
    std::shared_ptr<sync::lock_handle> take() noexcept { return std::move(held_); }

private:
    std::shared_ptr<sync::lock_handle> held_;
};

// Sends the requests of one call to several members at the same time (`member_requests`). Each
// member is asked by an ordinary acquire call of its own client, which may have a thread of its
// own:
//
//     ask ──▶ the member's executor: queue at its gate, ask its store ──▶ here: an answer
//      └─ cancel ─▶ the member's client undoes what it may have taken
//
// Correctness does not depend on the arrival of a reply. If no call takes a grant, the member's
// client releases the lock.

using member = std::shared_ptr<const sync::lock_descriptor>;

/// Reply of a member: granted (`got` is set), failed (`why` is set), or busy (neither is set).
struct member_answer {
    part got{};
    sync::failure why{};
    bool unasked = false; ///< busy only because of the local queue, so the store was not asked
    std::string server{}; ///< identity of the server; empty: not known
    bool says_restarts = false;
    /// Time from the request until the vote counts. The time is not zero if the server was
    /// restarted, because such a server may have forgotten its earlier grants.
    duration counts_in{};
};

/// Options of a request to a member.
struct request_options {
    duration timeout{};
    std::optional<duration> lease{}; ///< if a lease is given, the hold is not renewed
    bool takes = true;               ///< false: only waits until the lock is free
    /// Longest lease that any client uses for the lock; see `member_answer::counts_in`.
    std::optional<duration> longest_lease{};
    /// How long the quorum call has waited. This request may still wait in the local queue of the
    /// member's client. In that case, a reply "busy" to an earlier call in that queue counts as a
    /// reply to this request, if it arrived within this time.
    duration waited{};
    time_point quorum_deadline{}; ///< see `request`
};

/// Requests of one call to several members. Use it on the executor of the call's client.
class member_requests : public std::enable_shared_from_this<member_requests> {
public:
    /// Creates an object that has no requests yet. The alarm `wake` rings at each reply.
    member_requests(std::shared_ptr<sync::engine> home, const std::vector<member>&, alarm& wake);
    member_requests(const member_requests&) = delete;

    /// Sets a function that is called when a member's request to its store has ended, and the call
    /// still waits for this member. If the store did not reply, `no_reply` is the reason. If the
    /// lock of the member is busy, `no_reply` is empty. Call this function before ask().
    using request_handler = std::function<void(std::size_t which, const sync::failure& no_reply)>;
    void on_each_request(request_handler handler) { each_request_ = std::move(handler); }
    bool follows_requests() const noexcept { return each_request_ != nullptr; }

    void ask(std::size_t which, const request_options&);
    void ask_all(const request_options&);
    void cancel(std::size_t which); ///< cancels a request; releases its grant, if any

    void forget_answers(); ///< prepares another round

    std::size_t size() const noexcept { return member_states_.size(); }
    duration longest_time_limit() const; ///< longest time limit of the members' stores
    bool is_open(std::size_t which) const noexcept { return member_states_[which].open; }
    bool has_answered(std::size_t which) const noexcept { return member_states_[which].answered; }
    std::size_t open() const noexcept; ///< number of requests without a reply
    /// Returns the reply of a member. The member must have replied.
    member_answer& answer(std::size_t which) noexcept { return member_states_[which].said; }
    const member_answer& answer(std::size_t which) const noexcept {
        return member_states_[which].said;
    }
    bool granted(std::size_t which) const noexcept {
        return has_answered(which) && answer(which).got;
    }
    bool failed(std::size_t which) const noexcept {
        return has_answered(which) && answer(which).why.code;
    }
    bool busy(std::size_t which) const noexcept {
        return has_answered(which) && !answer(which).got && !answer(which).why.code;
    }

    /// Ends this object's work. Call this function when the call for several locks has ended.
    /// Releases the grants that the call did not take. Replies that arrive later are passed to
    /// `late`, which then owns their grants. If `late` is empty, these grants are released, too.
    using late_handler = std::function<void(std::size_t which, member_answer)>;
    void retire(late_handler late = {});

private:
    struct member_state {
        member who;
        std::weak_ptr<sync::acquisition> call{}; // the member's client keeps the call alive
        bool open = false;
        bool answered = false;
        std::uint64_t asked = 0; // number of requests so far, to detect late replies
        member_answer said{};
    };
    class member_call;

    void request_ended(std::size_t which, std::uint64_t asked, const sync::failure&) const;
    void arrived(std::size_t which, std::uint64_t asked, member_answer);

    const std::shared_ptr<sync::engine> home_;
    std::vector<member_state> member_states_;
    alarm* wake_;
    late_handler late_;
    request_handler each_request_;
};

} // namespace holdfast::compose
