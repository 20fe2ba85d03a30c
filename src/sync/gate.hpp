// SPDX-License-Identifier: Apache-2.0
// Where the waiters of one client for one name queue. It owns wire holds, not threads: one hold of
// this client at a time, and only the waiter at the head of the queue talks to the store.
#pragma once

#include "sync/wire_hold.hpp"

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace holdfast::sync {

/// Touched on the executor only.
class gate {
public:
    explicit gate(std::string name)
        : name_{std::move(name)} {}

    const std::string& name() const noexcept { return name_; }
    bool free() const { return !holder_ && queue_.empty(); }
    const std::shared_ptr<wire_hold>& holder() const { return holder_; }
    std::size_t waiting() const { return queue_.size(); }

    void line_up(alarm& wake) { queue_.push_back(&wake); }
    bool may_negotiate(const alarm& wake) const { return !holder_ && queue_.front() == &wake; }
    void leave(const alarm& wake); ///< whatever its place; who is first now is rung
    void take(std::shared_ptr<wire_hold> held) { holder_ = std::move(held); }
    void hold_over(const wire_hold&); ///< it ended: who is first is rung
    void let_go() { holder_.reset(); }

private:
    void ring_first();

    const std::string name_;
    std::list<alarm*> queue_; // a list: most gates never see a second waiter
    std::shared_ptr<wire_hold> holder_;
};

/// All gates of a client, each there while somebody holds or waits.
class gates {
public:
    gate& of(const std::string& name);
    gate* find(const std::string& name);
    void hold_over(const wire_hold&);
    void forget_if_free(const gate&);
    void let_go(); ///< of what they hold; who still stands in a queue leaves by itself
    std::size_t count() const { return by_name_.size(); }

private:
    std::unordered_map<std::string, gate> by_name_;
};

/// A place in a gate's queue, left with the scope.
class turn {
public:
    turn(gates&, const std::string& name, alarm& wake);
    ~turn();
    turn(const turn&) = delete;

    bool may_negotiate() const { return gate_.may_negotiate(wake_); }
    void take(std::shared_ptr<wire_hold> held) { gate_.take(std::move(held)); }

private:
    gates& all_;
    gate& gate_;
    alarm& wake_;
};

} // namespace holdfast::sync
