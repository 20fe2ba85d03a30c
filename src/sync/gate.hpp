// SPDX-License-Identifier: Apache-2.0
// Where the waiters of one client for one name queue. It owns wire holds, not threads: one hold of
// this client at a time, and only one call at a time talks to the store.
//
//     queued ──nobody holds or negotiates──▶ negotiates ──granted──▶ holds
//        └──────────── handed on by a holder of this client ───────────▲
//
// A deferred release opens it early if it was sent on a lane; the next request may still overtake
// it on another connection, and its answer then says nothing (acquire.cpp).
#pragma once

#include "sync/acquisition.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace holdfast::sync {

/// Touched on the executor only.
class gate {
public:
    const std::shared_ptr<wire_hold>& holder() const { return holder_; }
    std::size_t waiting() const { return queue_.size(); }
    bool shut() const { return holder_ || negotiating_; }
    bool free() const { return !shut() && queue_.empty(); }
    bool unused() const { return free() && !sent_off_; }

    // A deferred release comes before what its thread asks next, where nobody else waits here.
    bool is_about_to_be_left() const; ///< it is still on its way to the executor
    bool is_being_left() const;       ///< the store was asked, and answers within its time limit

    /// Who waits keeps itself alive here until it is its turn or it has finished.
    void line_up(acquisition& waits) { waits.stand_in(queue_); }

    /// Who waits first; null if nobody does.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }

    void begin_negotiation() { negotiating_ = true; }
    void end_negotiation() { negotiating_ = false; }
    void take(std::shared_ptr<wire_hold> held) { holder_ = std::move(held); }
    void let_go();

    /// Opens it: the holder's release is on its way, and not acknowledged yet.
    void open_behind(const wire_hold&);
    bool awaits_acknowledgement() const { return sent_off_ != nullptr; }
    /// Somebody knows what became of that release. False: it was not the last one sent from here.
    bool acknowledged(const wire_hold&);
    /// Rings then, for whoever negotiates.
    class acknowledgement_bell {
    public:
        acknowledgement_bell(gate& at, alarm& wake)
            : at_{at} {
            at_.bell_ = &wake;
        }
        acknowledgement_bell(const acknowledgement_bell&) = delete;
        ~acknowledgement_bell() { at_.bell_ = nullptr; }

    private:
        gate& at_;
    };

    /// It had been handed around here while other clients listened: they are let try first.
    bool owes_courtesy = false;

private:
    acquisition::queue queue_;
    std::shared_ptr<wire_hold> holder_;
    const wire_hold* sent_off_ = nullptr; // only compared: its release keeps it alive
    alarm* bell_ = nullptr;
    bool negotiating_ = false;
};

/// All gates of a client, each there while somebody holds or waits.
class gates {
public:
    gate& of(const std::string& name);
    gate* find(const std::string& name);
    void forget(const std::string& unused);
    void let_go(); ///< of what they hold and of who queues; who negotiates leaves by itself
    std::size_t count() const { return by_name_.size(); }

    /// Whether other clients listened when that lock was last released.
    bool others_listen(const std::string& name) const { return contended_.contains(name); }
    void note_others(const std::string& name, bool listen);

private:
    /// A gate forgets when nobody needs it any more, this does not; but for ever it cannot grow.
    static constexpr std::size_t contended_max = 10'000;

    using map = std::unordered_map<std::string, gate>;

    map by_name_;
    map::node_type spare_; // of a gate that was left: most come and go with every hold
    std::unordered_set<std::string> contended_;
};

} // namespace holdfast::sync
