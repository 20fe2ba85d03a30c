// SPDX-License-Identifier: Apache-2.0
// One client's way to the server, as bad as a seed or a scenario wants it.
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

/// How often each thing goes wrong, in per cent of the requests.
struct weather {
    int refused = 0;     ///< at once
    int lost = 0;        ///< on the way there
    int answer_lost = 0; ///< on the way back
    int slow = 0;        ///< on the way there, by up to `slowness`
    int slow_answer = 0; ///< on the way back, by up to `slowness`
    int doubled = 0;     ///< executed again a little later
    int broken = 0;      ///< the connection breaks at once; executed up to `slowness` later
    int deaf = 0;        ///< the next wake-up is lost
    int no_room = 0;     ///< at the client: it is not sent
    duration slowness{};
    duration latency{}; ///< of each way, always: up to that much. No trouble.
};

class network {
public:
    /// Told of each request and what becomes of it.
    using watcher = std::function<void(const memory::request&, const memory::fate&)>;

    /// `further`: for what came later, so that old seeds keep their meaning.
    network(const sim_clock& time, dice d, dice further, duration command_timeout, watcher told)
        : time_{time}
        , dice_{d}
        , further_{further}
        , command_timeout_{command_timeout}
        , told_{std::move(told)} {}

    void set(weather w) { weather_ = w; }
    void cut(bool refusing) { cut_ = refusing ? outage::refuses : outage::swallows; }
    void mend() { cut_ = outage::none; }

    /// The connection dies without a word: nothing comes through, but over another one.
    void silence(bool now) { silent_ = now; }
    /// The server answers that whatever concerns that name is not allowed.
    void deny(int name) { denied_.insert(name); }
    void allow(int name) { denied_.erase(name); }

    /// What becomes of the next request of that kind; several wait their turn. Comes before all
    /// else, but not before a cut.
    void next(memory::verb what, memory::fate f) { planned_.emplace_back(what, f); }

    memory::fate decide(const memory::request&);
    memory::fault_function as_faults() {
        return [this](const memory::request& r) { return decide(r); };
    }

    /// Until when what went wrong may still be felt: requests on their way, answers awaited.
    time_point troubled_until() const { return troubled_until_; }
    bool cut_off() const { return cut_ != outage::none; }
    bool silent() const { return silent_; }
    /// When anything went wrong last, but for what a silent connection or a right that is missing
    /// explains; those, and for a name.
    time_point last_mishap() const { return last_mishap_; }
    time_point last_silence() const { return silent_ ? time_.now() : last_silence_; }
    time_point last_denial(int name) const;
    time_point last_want_of_room() const { return last_want_of_room_; }
    /// Whether nothing went wrong since then, and before it, nothing that is still felt.
    bool well_since(time_point when, int name) const;

    void connected_anew() { connected_at_ = time_.now(); }
    time_point connected_at() const { return connected_at_; }
    /// Nothing has gone wrong so far, no wake-up was lost.
    bool flawless() const { return !was_deaf_ && troubled_until_ == time_point{}; }
    /// Whether the server has executed a request twice. A look that it executes again after its
    /// owner's release leaves the mark of a waiting writer, which ends by itself only.
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
