// SPDX-License-Identifier: Apache-2.0
// Who waits for which answer. No I/O, no clock: the mouth acts on what this decides.
//
//   ask ──▶ queued ──next_to_write──▶ in flight ──answered──▶ apart
//             ▲                            │ │                  ▲
//             └───────── ask_again ────────┘ └─▶ unconfirmed ───┘   forget: apart, from anywhere
#pragma once

#include "redis/request.hpp"

#include <boost/intrusive/list.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace holdfast::redis {

class pipeline {
public:
    /// What was asked.
    enum class question { script, ping, role, asking, wait };

    struct written {
        request* asker; ///< null: does not wait any more, or nobody ever did
        time_point sent_at;
        question what = question::script;
        bool given_up = false; ///< whoever asked waited as long as it wanted
    };

    pipeline() = default;
    pipeline(const pipeline&) = delete;

    /// Each waits for at most `patience`, or until its own limit if that is earlier.
    void ask(request&, time_point now, duration patience);

    /// Whether the next one wants ASKING before it.
    bool next_asks() const { return queued_.front().wishes.asking; }

    /// The next one goes out now. Null: nothing is queued.
    request* next_to_write(time_point now);

    /// Something else goes out now, whose answer will be nobody's.
    void write_for_nobody(question what, time_point now) {
        written_.push_back({nullptr, now, what});
        waits_ += what == question::wait;
    }

    /// The answer of the oldest written request has come: whose is it? Nothing: nobody asked.
    /// Forget the asker then, or ask again.
    std::optional<written> answered();

    /// Queues an answered one once more, before whoever asked later.
    void ask_again(request&);

    /// It is answered, and waits for what is said of all those together.
    void await_confirmation(request&);
    /// Until this answer has come nothing else is to be written.
    bool awaits_confirmation() const { return waits_ > 0; }
    /// Those of which it has been said; forget each.
    std::vector<request*> confirmed();

    /// It waits no more. If it was written, its answer is still expected, and will be nobody's.
    void forget(request&);

    /// The same, because it has waited as long as it wanted.
    void give_up(request&);

    /// The connection is gone, and with it all answers: forgets whoever waited for one.
    std::vector<request*> drop_written();
    std::vector<request*> drop_queued();

    bool anything_queued() const { return !queued_.empty(); }
    std::size_t size() const { return queued_.size() + written_.size(); }

    /// Whose deadline comes first, or null.
    request* oldest();
    const request* oldest() const { return const_cast<pipeline*>(this)->oldest(); }

    /// Since when the server owes an answer.
    std::optional<time_point> owed_since() const;

    /// Whether it owes one to somebody that has given up.
    bool owes_what_was_given_up() const { return given_up_ > 0; }

private:
    using member_hook = boost::intrusive::list_member_hook<>;
    template <member_hook request::*Hook>
    using list =
        boost::intrusive::list<request, boost::intrusive::member_hook<request, member_hook, Hook>>;

    list<&request::by_age> waiting_;  // who has the usual time, by deadline
    list<&request::by_age> hurried_;  // who has less, by deadline
    list<&request::by_stage> queued_; // in the order of asking
    list<&request::by_stage> unconfirmed_;
    std::deque<written> written_;  // in the order of sending, which is that of the answers
    std::uint64_t first_slot_ = 0; // the number of written_.front()
    std::uint64_t asked_ = 0;      // so many ever
    std::size_t given_up_ = 0;     // of written_
    std::size_t waits_ = 0;        // likewise
};

} // namespace holdfast::redis
