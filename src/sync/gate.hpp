// SPDX-License-Identifier: Apache-2.0
// Where the waiters of one client for one name and one family of locks queue. It owns wire holds,
// not threads: one hold of this client at a time, and only one call at a time talks to the store.
//
//     queued ──admitted──▶ asks ──busy──▶ waits there ──granted──▶ holds
//        └──── handed on by a holder of this client ───────────────▲
//
// Who is admitted when: turns.cpp asks, and `admits` is the whole answer. Where the store keeps the
// waiters in order, each is let go there as soon as the one before it has its place: then the order
// of sending is the order of arrival, and any number wait there.
//
// A deferred release opens it early if it was sent on a lane; the next request may still overtake
// it on another connection, and its answer then says nothing (acquire.cpp).
#pragma once

#include "sync/acquisition.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Touched on the executor only.
class gate {
public:
    const std::shared_ptr<wire_hold>& holder() const { return holder_; }
    std::size_t waiting() const { return queue_.size(); }
    bool unused() const {
        return !holder_ && asking_ + waiting_there_ == 0 && queue_.empty() && !sent_off_;
    }

    /// Whether that call may go to the store now: the first in the queue, or one that just comes.
    bool admits(const acquisition&) const;

    // A deferred release comes before what its thread asks next, where nobody else waits here.
    bool is_about_to_be_left() const; ///< it is still on its way to the executor
    bool is_being_left() const;       ///< the store was asked, and answers within its time limit

    /// Who waits keeps itself alive here until it is its turn or it has finished.
    void line_up(acquisition& waits) { waits.stand_in(queue_); }

    /// Who waits first; null if nobody does.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }

    // Whoever is admitted asks; then it may wait at the store; then it has ended.
    void begins_to_ask() { ++asking_; }
    void waits_there() { --asking_, ++waiting_there_; }
    void ends(const acquisition& call) { --(call.waits_there() ? waiting_there_ : asking_); }
    void take(std::shared_ptr<wire_hold> held) { holder_ = std::move(held); }
    void let_go();

    /// Opens it: the holder's release is on its way, and not acknowledged yet.
    void open_behind(const wire_hold&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Somebody knows what became of that release. False: it was not the last one sent from here.
    bool acknowledged(const wire_hold&);
    /// Rings then, for one who negotiates.
    class acknowledgement_bell {
    public:
        acknowledgement_bell(gate& at, alarm& wake)
            : at_{at}
            , wake_{wake} {
            at_.bells_.push_back(&wake);
        }
        acknowledgement_bell(const acknowledgement_bell&) = delete;
        ~acknowledgement_bell() { std::erase(at_.bells_, &wake_); }

    private:
        gate& at_;
        alarm& wake_;
    };

    /// It had been handed around here while other clients listened: they are let try first.
    bool owes_courtesy = false;

private:
    bool is_on_its_way_out() const;
    void ring() const;

    acquisition::queue queue_;
    std::shared_ptr<wire_hold> holder_;
    const wire_hold* sent_off_ = nullptr; // only compared: its release keeps it alive
    std::vector<alarm*> bells_;
    std::size_t asking_ = 0;
    std::size_t waiting_there_ = 0;
};

} // namespace holdfast::sync
