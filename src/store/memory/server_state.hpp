// SPDX-License-Identifier: Apache-2.0
// The model: what a lock on a server is. The Redis store's scripts mean the same; both are held
// against one conformance suite.
#pragma once

#include "store/memory/exclusive_table.hpp"
#include "store/memory/server_clock.hpp"
#include "store/memory/shared_table.hpp"

#include <holdfast/memory/server.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

class ear;

struct forced_verdict {
    bool late = false;
    forced what{};
};

/// Thread safety: every member may be called from any thread.
class server::state {
public:
    explicit state(std::function<time_point()> clients_clock);

    // The verbs.

    /// Comes the request after `deadline`, a moment of this server's clock, it is refused.
    verdict_on_look look(const ask&, std::optional<microseconds> deadline, const mark_terms& = {});
    std::vector<bool> renew(const std::vector<hold>&, duration lease_time);
    release_answer release(const hold&);
    std::optional<holding> inspect(const lock_name&) const;
    /// As `inspector::force_release` and `force_side`, with a deadline like a look's.
    forced_verdict force(const lock_name&, const std::string& only_from,
                         std::optional<lock_kind> side, std::optional<microseconds> deadline);
    std::optional<lock_state> describe(const lock_name&) const;
    lock_list list(const std::string& pattern, std::size_t limit) const;

    microseconds now() const;

    // Who is told of releases.
    void add(ear&);
    void remove(ear&);

    // What tests do to a server.
    void step_clock(duration);
    void set_clock_rate(double);
    void forget_all();
    bool forget(const lock_name&);
    void occupy(const lock_name&, duration lease_time, lock_kind);
    bool vacate(const lock_name&);
    std::size_t held_count() const;
    std::size_t listener_count() const;

    // Faults for the simulator, which must find them.
    void ignore_deadlines();
    void upgrade_beside_readers();
    void downgrade_in_silence();

private:
    using guard = std::lock_guard<std::mutex>;

    // All with the mutex held.
    bool comes_late(std::optional<microseconds> deadline) const;
    std::optional<holding> holding_of(const lock_name&) const;
    std::vector<std::string> held_names() const;
    std::optional<lock_state> state_of(const lock_name&) const;
    void tell(const lock_name&) const;

    mutable std::mutex mutex_;
    server_clock clock_;
    exclusive_table locks_{clock_};
    shared_table shared_{clock_};
    std::multimap<std::string, ear*> ears_;
    bool deadlines_ignored_ = false;
};

/// For the simulator, which must find it: the server grants what comes too late.
inline void ignore_deadlines(const server& s) {
    s.inside()->ignore_deadlines();
}

} // namespace holdfast::memory
