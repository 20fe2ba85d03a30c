// SPDX-License-Identifier: Apache-2.0
// One call's questions to several members at once. A member is asked by an ordinary acquisition, at
// its own client, which may have a thread of its own:
//
//     ask ──▶ the member's executor: queue at its gate, ask its store ──▶ here: an answer
//      └─ cancel ─▶ it undoes by itself what it may have taken
//
// Correctness does not depend on an answer: what is granted to nobody is released where it is.
#pragma once

#include "compose/part.hpp"
#include "sync/acquisition.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::compose {

using member = std::shared_ptr<const sync::subject>;

/// What a member answered: granted, with a part; failed; or busy, with neither.
struct member_answer {
    part got{};
    sync::failure why{};
    bool unasked = false; ///< busy, but its store said nothing of it: see errand
    std::string server{}; ///< which it is, if it says so
    bool says_restarts = false;
    /// A restarted server may have forgotten what it gave away: its vote counts after that time.
    duration counts_in{};
};

/// How a member is asked.
struct question {
    duration patience{};
    std::optional<duration> lease{};         ///< given: not renewed
    bool takes = true;                       ///< false: it only waits until the lock is seen free
    std::optional<duration> longest_lease{}; ///< of anybody's: see member_answer::counts_in
};

/// Everything on the executor of the call's client.
class inquiry : public std::enable_shared_from_this<inquiry> {
public:
    /// `wake` rings at each answer.
    inquiry(std::shared_ptr<sync::engine> home, const std::vector<member>&, alarm& wake);
    inquiry(const inquiry&) = delete;

    void ask(std::size_t which, const question&);
    void ask_all(const question&);
    void cancel(std::size_t which); ///< what it was granted meanwhile is released

    void forget_answers(); ///< for another round

    std::size_t size() const noexcept { return seats_.size(); }
    duration longest_time_limit() const; ///< of their stores
    bool is_open(std::size_t which) const noexcept { return seats_[which].open; }
    bool has_answered(std::size_t which) const noexcept { return seats_[which].answered; }
    std::size_t open() const noexcept; ///< so many are asked, and did not answer
    /// Of one that has answered.
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

    /// From now on nobody waits for it: what was granted and not taken is let go of, and so is each
    /// later answer, unless it goes to `late`.
    using late_handler = std::function<void(std::size_t which, member_answer)>;
    void retire(late_handler late = {});

private:
    struct seat {
        member who;
        std::weak_ptr<sync::acquisition> call{}; // its own client keeps it
        bool open = false;
        bool answered = false;
        std::uint64_t asked = 0; // so often: an answer may be to an earlier question
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
