// SPDX-License-Identifier: Apache-2.0
// Simulated connection of one client to the server, with faults.
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

/// Frequency of each kind of fault, in percent of the requests.
struct weather {
    int refused = 0;     ///< the request is refused at once
    int lost = 0;        ///< the request is lost
    int answer_lost = 0; ///< the reply is lost
    int slow = 0;        ///< the request is delayed by up to `slowness`
    int slow_answer = 0; ///< the reply is delayed by up to `slowness`
    int doubled = 0;     ///< the request is executed again, a little later
    /// the connection breaks at once; the request is executed up to `slowness` later
    int broken = 0;
    int deaf = 0;    ///< the next notification is lost
    int no_room = 0; ///< the client has too many requests, so this request is not sent
    duration slowness{};
    /// maximum delay of each request and each reply; not a fault
    duration latency{};
};

class network {
public:
    /// Function that is called for each request, with its faults.
    using watcher = std::function<void(const memory::request&, const memory::fate&)>;

    /// `further` are the dice for newer features, so that old seeds keep their meaning.
    network(const sim_clock& time, dice d, dice further, duration command_timeout, watcher told)
        : time_{time}
        , dice_{d}
        , further_{further}
        , command_timeout_{command_timeout}
        , told_{std::move(told)} {}

    void set(weather w) { weather_ = w; }
    void cut(bool refusing) { cut_ = refusing ? outage::refuses : outage::swallows; }
    void mend() { cut_ = outage::none; }

    /// If true, the connection dies silently: no byte arrives any more, except over a new
    /// connection.
    void silence(bool now) { silent_ = now; }
    /// Makes the server refuse all requests about this name, as if the user lacked a permission.
    void deny(int name) { denied_.insert(name); }
    void allow(int name) { denied_.erase(name); }

    /// Sets the faults of the next request of this kind. Several calls set those of several
    /// requests, in order. They replace random faults, but not a cut.
    void next(memory::verb what, memory::fate f) { planned_.emplace_back(what, f); }

    memory::fate decide(const memory::request&);
    memory::fault_function as_faults() {
        return [this](const memory::request& r) { return decide(r); };
    }

    /// Returns the time until which past faults may have an effect: slow requests are in flight, or
    /// callers wait for lost replies.
    time_point troubled_until() const { return troubled_until_; }
    bool cut_off() const { return cut_ != outage::none; }
    bool silent() const { return silent_; }
    /// Returns the time of the last fault, except silent connections and denied permissions (see
    /// the next two functions).
    time_point last_mishap() const { return last_mishap_; }
    time_point last_silence() const { return silent_ ? time_.now() : last_silence_; }
    time_point last_denial(int name) const;
    time_point last_want_of_room() const { return last_want_of_room_; }
    /// Returns whether no fault has happened since `when`, and no earlier fault has had an effect
    /// since then.
    bool well_since(time_point when, int name) const;

    void connected_anew() { connected_at_ = time_.now(); }
    time_point connected_at() const { return connected_at_; }
    /// Returns whether no fault has ever happened, and no notification was lost.
    bool flawless() const { return !was_deaf_ && troubled_until_ == time_point{}; }
    /// Returns whether the server has executed a request twice. A late copy of a writer's attempt
    /// can mark the lock as wanted by a writer, until the mark expires.
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
