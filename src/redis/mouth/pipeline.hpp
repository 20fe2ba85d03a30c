// SPDX-License-Identifier: Apache-2.0
// Queue of requests, which also assigns each reply to its request. No I/O and no clock: the
// connection (`mouth`) does what the queue decides.
//
//   ask ──▶ queued ──next_to_write──▶ in flight ──answered──▶ apart
//             ▲                            │ │                  ▲
//             └───────── ask_again ────────┘ └─▶ unconfirmed ───┘   forget: from any state to apart
#pragma once

#include "redis/request.hpp"

#include <boost/intrusive/list.hpp>

#include <deque>
#include <optional>
#include <vector>

namespace holdfast::redis {

/// Pipelined requests of one connection, in the order of sending.
class pipeline {
public:
    /// Kinds of commands that are sent.
    enum class question { script, ping, role, asking, wait };

    struct written {
        request* asker; ///< null if no caller waits for the reply (any more)
        time_point sent_at;
        question what = question::script;
        bool given_up = false; ///< the caller has timed out
    };

    pipeline() = default;
    pipeline(const pipeline&) = delete;

    /// Queues a request. It waits for at most `patience`, or until its own deadline if that is
    /// earlier.
    void ask(request&, time_point now, duration patience);

    /// Returns whether ASKING must be sent before the next request. The queue must not be empty.
    bool next_asks() const { return queued_.front().wishes.asking; }

    /// Takes the next request, which the caller writes now. Returns null if nothing is queued.
    request* next_to_write(time_point now);

    /// Records a command that is written now and whose reply no caller waits for.
    void write_for_nobody(question what, time_point now) {
        written_.push_back({nullptr, now, what});
        waits_ += what == question::wait;
    }

    /// Returns the sent command that the next reply belongs to, or nothing if no reply is expected.
    /// The caller must forget() its request afterwards, or call ask_again().
    std::optional<written> answered();

    /// Puts an answered request back into the queue, before all requests that were asked later.
    void ask_again(request&);

    /// Keeps an answered request until the reply to WAIT has come for the whole batch.
    void await_confirmation(request&);
    /// Returns whether a reply to WAIT is owed. Nothing may be written until it has come.
    bool awaits_confirmation() const { return waits_ > 0; }
    /// Returns the requests that the reply to WAIT belongs to. The caller must forget() each.
    std::vector<request*> confirmed();

    /// Removes a request. If it was written, its reply is still expected and will be ignored.
    void forget(request&);

    /// Removes a request that has timed out.
    void give_up(request&);

    /// Removes all written requests, because their replies are lost with the connection. Returns
    /// the requests that a caller waits for.
    std::vector<request*> drop_written();
    /// Removes all requests that were not written yet, and returns them.
    std::vector<request*> drop_queued();

    bool anything_queued() const { return !queued_.empty(); }
    std::size_t size() const { return queued_.size() + written_.size(); }

    /// Returns the request with the earliest deadline, or null.
    request* oldest();
    const request* oldest() const { return const_cast<pipeline*>(this)->oldest(); }

    /// Returns the time since which the oldest reply is owed.
    std::optional<time_point> owed_since() const;

    /// Returns whether the reply to a request that timed out is owed.
    bool owes_what_was_given_up() const { return given_up_ > 0; }

private:
    using member_hook = boost::intrusive::list_member_hook<>;
    template <member_hook request::*Hook>
    using list =
        boost::intrusive::list<request, boost::intrusive::member_hook<request, member_hook, Hook>>;

    list<&request::by_age> waiting_;  // requests with the usual timeout, by deadline
    list<&request::by_age> hurried_;  // requests with an earlier deadline, by deadline
    list<&request::by_stage> queued_; // in the order of asking
    list<&request::by_stage> unconfirmed_;
    std::deque<written> written_; // in the order of sending, which is also the order of the replies
    std::uint64_t first_slot_ = 0; // slot number of written_.front()
    std::uint64_t asked_ = 0;      // number of requests ever asked
    std::size_t given_up_ = 0;     // number of entries of written_ that were given up
    std::size_t waits_ = 0;        // number of WAIT commands in written_
};

} // namespace holdfast::redis
