// SPDX-License-Identifier: Apache-2.0
// Queue of requests, which also assigns each reply to its request. No I/O and no clock: the
// connection (`mouth`) reads and writes, and calls this class.
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
        request* asker; ///< null if no caller waits for the reply
        time_point sent_at;
        question what = question::script;
        bool given_up = false; ///< the caller has stopped waiting because of its timeout
    };

    pipeline() = default;
    pipeline(const pipeline&) = delete;

    /// Queues a request. The request waits for at most `patience`, or until its own deadline if the
    /// deadline is earlier.
    void ask(request&, time_point now, duration patience);

    /// Returns whether ASKING must be sent before the next request. The queue must not be empty.
    bool next_asks() const { return queued_.front().wishes.asking; }

    /// Removes the next request from the queue and returns it; the caller writes it now. Returns
    /// null if the queue is empty.
    request* next_to_write(time_point now);

    /// Records a command that is written now, without a caller that waits for the reply.
    void write_for_nobody(question what, time_point now) {
        written_.push_back({nullptr, now, what});
        waits_ += what == question::wait;
    }

    /// Returns the sent command that the next reply belongs to. Returns nothing if no reply is
    /// expected. The caller must then call forget() or ask_again() for the request of that command.
    std::optional<written> answered();

    /// Puts an answered request back into the queue, before all requests that were added later.
    void ask_again(request&);

    /// Keeps an answered request until the reply to the WAIT of its batch has come.
    void await_confirmation(request&);
    /// Returns whether a reply to WAIT is missing. Nothing may be written until it has come.
    bool awaits_confirmation() const { return waits_ > 0; }
    /// Returns the requests that the reply to WAIT belongs to. The caller must call forget() for
    /// each request.
    std::vector<request*> confirmed();

    /// Removes a request. If the request was written, its reply is still expected and will be
    /// ignored.
    void forget(request&);

    /// Removes a request that has timed out.
    void give_up(request&);

    /// Removes all written requests, because their replies are lost with the connection. Returns
    /// the requests with a waiting caller.
    std::vector<request*> drop_written();
    /// Removes all requests that were not written yet, and returns them.
    std::vector<request*> drop_queued();

    bool anything_queued() const { return !queued_.empty(); }
    std::size_t size() const { return queued_.size() + written_.size(); }

    /// Returns the request with the earliest deadline, or null.
    request* oldest();
    const request* oldest() const { return const_cast<pipeline*>(this)->oldest(); }

    /// Returns the time since which the oldest reply has been missing.
    std::optional<time_point> owed_since() const;

    /// Returns whether the reply to a request that timed out is missing.
    bool owes_what_was_given_up() const { return given_up_ > 0; }

private:
    using member_hook = boost::intrusive::list_member_hook<>;
    template <member_hook request::*Hook>
    using list =
        boost::intrusive::list<request, boost::intrusive::member_hook<request, member_hook, Hook>>;

    list<&request::by_age> waiting_;  // requests with the usual timeout, sorted by deadline
    list<&request::by_age> hurried_;  // requests with an earlier deadline, sorted by deadline
    list<&request::by_stage> queued_; // in the order of ask()
    list<&request::by_stage> unconfirmed_;
    std::deque<written> written_;  // in the order of sending; the replies come in the same order
    std::uint64_t first_slot_ = 0; // slot number of written_.front()
    std::uint64_t asked_ = 0;      // number of calls of ask()
    std::size_t given_up_ = 0;     // number of entries of written_ that have timed out
    std::size_t waits_ = 0;        // number of WAIT commands in written_
};

} // namespace holdfast::redis
