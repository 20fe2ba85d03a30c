// SPDX-License-Identifier: Apache-2.0
// Where the waiters of one client for one name queue. It owns wire holds, not threads: one hold of
// this client at a time, and only one call at a time talks to the store.
//
//     queued ──nobody holds or negotiates──▶ negotiates ──granted──▶ holds
//        └──────────── handed on by a holder of this client ───────────▲
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
    bool unused() const { return !shut() && queue_.empty(); }

    /// Who waits keeps itself alive here until it is its turn or it has finished.
    void line_up(acquisition& waits) { waits.stand_in(queue_); }

    /// Who waits first; null if nobody does.
    acquisition* first() { return queue_.empty() ? nullptr : &queue_.front(); }

    void begin_negotiation() { negotiating_ = true; }
    void end_negotiation() { negotiating_ = false; }
    void take(std::shared_ptr<wire_hold> held) { holder_ = std::move(held); }
    void let_go();

    /// It had been handed around here while other clients listened: they are let try first.
    bool owes_courtesy = false;

private:
    acquisition::queue queue_;
    std::shared_ptr<wire_hold> holder_;
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
