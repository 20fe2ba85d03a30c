// SPDX-License-Identifier: Apache-2.0
// Who waits for which answer. No I/O, no clock: the mouth acts on what this decides.
//
//   ask ──▶ queued ──next_to_write──▶ in flight ──answered──▶ apart
//             ▲                            │
//             └───────── ask_again ────────┘        forget: apart, from anywhere
#pragma once

#include "redis/request.hpp"

#include <boost/intrusive/list.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace holdfast::redis {

class pipeline {
public:
    struct written {
        request* asker; ///< null: does not wait any more
        time_point sent_at;
    };

    pipeline() = default;
    pipeline(const pipeline&) = delete;

    void ask(request&, time_point deadline);

    /// The next one goes out now. Null: nothing is queued.
    request* next_to_write(time_point now);

    /// Something else goes out now, whose answer will be nobody's.
    void write_for_nobody(time_point now) { written_.push_back({nullptr, now}); }

    /// The answer of the oldest written request has come: whose is it? Nothing: nobody asked.
    /// Forget the asker then, or ask again.
    std::optional<written> answered();

    /// Queues an answered one once more, before whoever asked later.
    void ask_again(request&);

    /// It waits no more. If it was written, its answer is still expected, and will be nobody's.
    void forget(request&);

    /// The connection is gone, and with it all answers: forgets whoever waited for one.
    std::vector<request*> drop_written();
    std::vector<request*> drop_queued();

    bool anything_queued() const { return !queued_.empty(); }
    std::size_t size() const { return queued_.size() + written_.size(); }

    /// Whose deadline comes first, or null.
    request* oldest() { return waiting_.empty() ? nullptr : &waiting_.front(); }
    const request* oldest() const { return waiting_.empty() ? nullptr : &waiting_.front(); }

    /// Since when the server owes an answer.
    std::optional<time_point> owed_since() const;

private:
    using member_hook = boost::intrusive::list_member_hook<>;
    template <member_hook request::*Hook>
    using list =
        boost::intrusive::list<request, boost::intrusive::member_hook<request, member_hook, Hook>>;

    list<&request::by_age> waiting_;  // all, by deadline
    list<&request::by_stage> queued_; // by deadline too
    std::deque<written> written_;     // in the order of sending, which is that of the answers
    std::uint64_t first_slot_ = 0;    // the number of written_.front()
};

} // namespace holdfast::redis
