// SPDX-License-Identifier: Apache-2.0
// Questions of one call to several members at the same time (`inquiry`). Each member is asked by an
// ordinary acquire call of its own client, which may have a thread of its own:
//
//     ask ──▶ the member's executor: queue at its gate, ask its store ──▶ here: an answer
//      └─ cancel ─▶ the member's client undoes what it may have taken
//
// No answer is needed for correctness: a grant that no call takes is released by the member's
// client.
#pragma once

#include "compose/part.hpp"
#include "sync/acquisition.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::compose {

using member = std::shared_ptr<const sync::subject>;

/// Answer of a member: granted (`got` is set), failed (`why` is set), or busy (neither).
struct member_answer {
    part got{};
    sync::failure why{};
    bool unasked = false; ///< busy in the local queue only: its store gave no answer
    std::string server{}; ///< identity of the server; empty: unknown
    bool says_restarts = false;
    /// Time from the question until the vote counts. A restarted server may have forgotten what it
    /// granted before.
    duration counts_in{};
};

/// Parameters of a question to a member.
struct question {
    duration patience{};
    std::optional<duration> lease{};         ///< a lease that is given is not renewed
    bool takes = true;                       ///< false: only wait until the lock is seen free
    std::optional<duration> longest_lease{}; ///< longest lease of any client: see
                                             ///< member_answer::counts_in
};

/// Questions to several members. Use it on the executor of the call's client.
class inquiry : public std::enable_shared_from_this<inquiry> {
public:
    /// `wake` rings at each answer.
    inquiry(std::shared_ptr<sync::engine> home, const std::vector<member>&, alarm& wake);
    inquiry(const inquiry&) = delete;

    void ask(std::size_t which, const question&);
    void ask_all(const question&);
    void cancel(std::size_t which); ///< withdraws a question; releases its grant, if any

    void forget_answers(); ///< prepares another round

    std::size_t size() const noexcept { return seats_.size(); }
    duration longest_time_limit() const; ///< longest time limit of their stores
    bool is_open(std::size_t which) const noexcept { return seats_[which].open; }
    bool has_answered(std::size_t which) const noexcept { return seats_[which].answered; }
    std::size_t open() const noexcept; ///< number of questions without an answer
    /// Returns the answer of a member that has answered.
    member_answer& answer(std::size_t which) noexcept { return seats_[which].said; }
    const member_answer& answer(std::size_t which) const noexcept { return seats_[which].said; }
    bool granted(std::size_t which) const noexcept {
        return has_answered(which) && answer(which).got;
    }
    bool failed(std::size_t which) const noexcept {
        return has_answered(which) && answer(which).why.code;
    }
    bool busy(std::size_t which) const noexcept {
        return has_answered(which) && !answer(which).got && !answer(which).why.code;
    }

    /// Says that no caller waits any more. Grants that were not taken are released. Later answers
    /// go to `late`; without it, later grants are released too.
    using late_handler = std::function<void(std::size_t which, member_answer)>;
    void retire(late_handler late = {});

private:
    struct seat {
        member who;
        std::weak_ptr<sync::acquisition> call{}; // its own client keeps it alive
        bool open = false;
        bool answered = false;
        std::uint64_t asked = 0; // number of questions so far, to detect late answers
        member_answer said{};
    };
    class errand;

    void arrived(std::size_t which, std::uint64_t asked, member_answer);

    const std::shared_ptr<sync::engine> home_;
    std::vector<seat> seats_;
    alarm* wake_;
    late_handler late_;
};

} // namespace holdfast::compose
