// SPDX-License-Identifier: Apache-2.0
// Connection of one client to the server, as bad as a seed or a scenario wants it.
#pragma once

#include "sim/dice.hpp"
#include "sim/trace.hpp"

#include <holdfast/memory/server.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace holdfast::sim {

/// Frequency of each fault, in percent of the requests.
struct weather {
    int refused = 0;     ///< the request is refused at once
    int lost = 0;        ///< the request is lost
    int answer_lost = 0; ///< the reply is lost
    int slow = 0;        ///< the request is delayed by up to `slowness`
    int slow_answer = 0; ///< the reply is delayed by up to `slowness`
    int doubled = 0;     ///< the request is executed a second time, a little later
    /// the connection breaks at once; the request is executed up to `slowness` later
    int broken = 0;
    int deaf = 0;    ///< the next notification is lost
    int no_room = 0; ///< the client is overloaded, so the request is not sent
    duration slowness{};
    /// maximum delay in each direction, for all requests; does not count as a fault
    duration latency{};
};

class network {
public:
    /// Function that is called for each request with its fate.
    using watcher = std::function<void(const memory::request&, const memory::fate&)>;

    /// `further` are dice for later features, so that old seeds keep their meaning.
    network(const sim_clock& time, dice d, dice further, duration command_timeout, watcher told)
        : time_{time}
        , dice_{d}
        , further_{further}
        , command_timeout_{command_timeout}
        , told_{std::move(told)} {}

    void set(weather w) { weather_ = w; }
    void cut(bool refusing) { cut_ = refusing ? outage::refuses : outage::swallows; }
    void mend() { cut_ = outage::none; }

    /// Makes the connection die silently. No byte arrives any more, except over another connection.
    void silence(bool now) { silent_ = now; }
    /// Makes the server refuse all requests about this name, because they are not allowed.
    void deny(int name) { denied_.insert(name); }
    void allow(int name) { denied_.erase(name); }

    /// Sets the fate of the next request of this kind. Several calls set the fates of several
    /// requests, in order. A fate that was set has priority over all faults except a cut.
    void next(memory::verb what, memory::fate f) { planned_.emplace_back(what, f); }

    memory::fate decide(const memory::request&);
    memory::fault_function as_faults() {
        return [this](const memory::request& r) { return decide(r); };
    }

    /// Returns the time until which past faults may have an effect. Requests may be in flight, or
    /// callers may wait for lost replies.
    time_point troubled_until() const { return troubled_until_; }
    bool cut_off() const { return cut_ != outage::none; }
    bool silent() const { return silent_; }
    /// Returns the time of the last fault, apart from silent connections and denied permissions.
    /// The next two functions return the times of the last silent connection and of the last denied
    /// permission.
    time_point last_mishap() const { return last_mishap_; }
    time_point last_silence() const { return silent_ ? time_.now() : last_silence_; }
    time_point last_denial(int name) const;
    time_point last_want_of_room() const { return last_want_of_room_; }
    /// Returns whether no fault has happened since `when`. Faults before `when` must also have no
    /// effect any more.
    bool well_since(time_point when, int name) const;

    void connected_anew() { connected_at_ = time_.now(); }
    time_point connected_at() const { return connected_at_; }
    /// Returns whether no fault has happened at all and no notification was lost.
    bool flawless() const { return !was_deaf_ && troubled_until_ == time_point{}; }
    /// Returns whether the server has executed a request twice. If an attempt is executed again
    /// after its owner's release, it sets the flag of a waiting writer. Only its expiry removes
    /// that flag.
    bool doubled() const { return was_doubled_; }
    bool troubles(const memory::fate&) const;
    duration latency() const { return weather_.latency; }

private:
    enum class outage { none, refuses, swallows };

    memory::fate draw();
    void deny(const memory::request&, memory::fate&) const;
    void note(const memory::request&, const memory::fate&);

    const sim_clock& time_;
    dice dice_;
    dice further_;
    const duration command_timeout_;
    watcher told_;
    weather weather_;
    outage cut_ = outage::none;
    std::deque<std::pair<memory::verb, memory::fate>> planned_;
    bool silent_ = false;
    std::set<int> denied_;
    time_point troubled_until_{};
    time_point connected_at_{};
    time_point last_mishap_{};
    time_point last_silence_{};
    time_point last_want_of_room_{};
    std::map<int, time_point> last_denial_;
    bool was_deaf_ = false;
    bool was_doubled_ = false;
};

} // namespace holdfast::sim
