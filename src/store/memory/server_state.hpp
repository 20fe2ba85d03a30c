// SPDX-License-Identifier: Apache-2.0
// State of one machine of a memory::server. It is the model of locks on a server: the Redis store's
// scripts do the same, and one conformance suite tests both.
#pragma once

#include "store/memory/server_clock.hpp"
#include "store/memory/stream.hpp"
#include "store/memory/tables.hpp"

#include <holdfast/memory/server.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

class ear;

/// Record of one request about a counter, for the simulator. Exactly one of the three pointers is
/// set.
struct count_record {
    const counter_ask* taken = nullptr;
    const counter_ask* given_back = nullptr;
    const counter_change* changed = nullptr; ///< request number 0: by a foreign program
    /// Value before and after the request: the number of a semaphore or a latch, or all permits of
    /// a leased semaphore, held and free. Empty: there was no such counter, or it is a rate
    /// limiter.
    std::optional<std::int64_t> before{};
    std::optional<std::int64_t> after{};
    bool granted = false; ///< the permits were taken, or the change was made
    microseconds at{};
};

struct forced_verdict {
    bool late = false;
    const char* other = nullptr; ///< words for another kind that has the name
    forced what{};
};

/// One machine: a primary or a replica. Thread safety: every member may be called from any thread.
class server::state {
public:
    explicit state(std::function<time_point()> clients_clock, std::size_t number = 0);

    const std::size_t number; ///< index in its group

    static bool keeps(lock_kind) noexcept { return true; }
    static bool keeps(counter_kind) noexcept { return true; }

    // Requests.

    /// Asks for a lock. Refuses the request as late after `deadline`, a time of this server's
    /// clock.
    verdict_on_look look(const ask&, std::optional<microseconds> deadline);
    struct renewed {
        bool is_held = false;
        std::optional<duration> left_before{}; ///< see answer
    };
    std::vector<renewed> renew(const std::vector<hold>&, duration lease_time);
    release_answer release(const hold&);
    std::optional<holding> inspect(const lock_name&) const;
    /// Ends a lock (`inspector::force_release` and `force_kind`). `deadline` works as in look().
    forced_verdict force(const lock_name&, const std::string& only_from, std::optional<lock_kind>,
                         std::optional<microseconds> deadline);
    std::uint64_t last_token(const lock_name&) const;
    std::optional<lock_state> describe(const lock_name&) const;
    lock_list list(const std::string& pattern, std::size_t limit) const;

    // Requests about counters. `deadline` works as in look(). `memory` is how long the answer is
    // remembered.
    count_verdict count(const counter_ask&, std::optional<microseconds> deadline, duration memory);
    void give_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, std::optional<microseconds> deadline,
                          duration memory);
    counter_state inspect_counter(const lock_name&, counter_kind,
                                  const rate_table::drawer& client) const;
    counter_list list_counters(counter_kind, const std::string& pattern, std::size_t limit,
                               const rate_table::drawer& client) const;
    /// Returns the leased permits by their ids, with the rest of each lease.
    std::map<std::string, duration> permits_held(const lock_name&) const;
    /// Returns the words for the other kind that has that name; null if no other kind has it.
    const char* other_kind(const lock_name&, counter_kind) const;

    microseconds now() const;

    /// Notes a request of that client: all its holds last at least `session_time` from now on.
    void prolong_session(const std::array<std::uint8_t, 16>& client, duration session_time);

    const std::string& id() const noexcept { return id_; } ///< unique in the process
    /// Returns the time, on the clients' clock, before which this machine may have forgotten
    /// something. `time_point::min()`: it has forgotten nothing.
    time_point forgets_before() const;

    // Replication (server_replicas.cpp). A write is any request that changes something.
    bool is_primary() const;
    void be_primary();                    ///< with the data that have arrived by now
    std::uint64_t demotions() const;      ///< how often it stopped being the primary
    void follow(std::shared_ptr<stream>); ///< makes it a replica, with the data it has
    /// Adds a replica. It is sent all data, and then each write.
    void feed(const std::shared_ptr<stream>&);
    std::uint64_t writes() const; ///< number of writes so far
    /// Returns the number of replicas that have all writes up to this one.
    unsigned confirmed(std::uint64_t write) const;
    time_point next_confirmation() const; ///< `time_point::max()`: none is under way
    /// Returns the last write of the primary up to which this replica has everything. Empty: it
    /// follows no primary, or the first copy has not arrived yet.
    std::optional<std::uint64_t> received() const;

    // A stopped machine carries out nothing. When it is resumed, it carries out all requests that
    // came.
    bool stands_still() const;
    void stop();
    void resume();
    void when_it_goes_on(std::function<void()>); ///< calls it on the thread that calls resume()

    // Subscribers to releases.
    void add(ear&);
    void remove(ear&);

    // Interventions of tests.
    void step_clock(duration);
    void set_clock_rate(double);
    void forget_all();
    bool forget(const lock_name&);
    void occupy(const lock_name&, duration lease_time, lock_kind);
    bool vacate(const lock_name&);
    bool cut_readers(const lock_name&, duration lease_time);
    std::size_t held_count() const;
    std::size_t listener_count() const;

    // Changes by foreign programs, which a test plays. Their requests are not remembered.
    void stranger_changes(const counter_change&);
    void stranger_takes_permits(const hold&, duration lease_time);
    std::size_t requests_remembered() const;
    /// Sets a function that is called with each request about a counter that is in time. It runs
    /// with the mutex held, so it must not call the server.
    void tell_of_counts(std::function<void(const count_record&)>);

    // A JVM in the queue of a fair lock, with Redisson's arithmetic.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease);
    void stranger_leaves(const lock_name&, const std::string& owner, duration wait);
    bool stranger_releases(const lock_name&, const std::string& owner);
    void set_jvm_wait(duration); ///< fairLockWaitTimeout: how long a JVM waits in a queue
    duration stranger_waits() const;
    std::vector<std::string> waiting(const lock_name&) const;
    std::vector<std::string> counting(const lock_name&) const;
    /// Returns a number that grows with each call that may have changed a holder or a queue. The
    /// passing of time does not change it.
    std::uint64_t changes() const;

private:
    using guard = std::lock_guard<std::mutex>;

    /// Counts one write when its scope is left.
    class writing {
    public:
        explicit writing(state& at)
            : at_{at} {}
        writing(const writing&) = delete;
        ~writing() { at_.wrote(); }

    private:
        state& at_;
    };

    // Call these with the mutex held.
    bool comes_late(std::optional<microseconds> deadline) const;
    verdict_on_look look_at_lock(const ask&);
    void wrote();
    void catch_up();
    std::optional<holding> holding_of(const lock_name&) const;
    std::vector<std::string> held_names() const;
    verdict_on_look look_at_token(const ask&);
    release_answer end(const hold&);
    left_verdict release_alone(const hold&);
    bool erase(const lock_name&);
    std::optional<lock_state> state_of(const lock_name&) const;
    void tell(const lock_name&) const;
    void tell(const lock_name&, const fair_table::owners&) const;
    void tell_of_count(const lock_name&, counter_kind, std::int64_t available) const;
    const char* what_is_there(const lock_name&) const;
    const char* other_than(const lock_name&, const char* wanted) const;
    bool may_be_token(const lock_name&) const;
    void become_permits(const lock_name&);
    void become_number(const lock_name&);
    verdict_on_look look_at_permits(const ask&);
    release_answer release_permits(const hold&);
    template <typename Act>
    auto on_record(counter_kind, const lock_name&, count_record, Act);
    counter_state state_of_counter(const lock_name&, counter_kind,
                                   const rate_table::drawer& client) const;
    std::optional<std::int64_t> all_there_are(const lock_name&, counter_kind) const;

    const std::string id_;
    mutable std::mutex mutex_;
    server_clock clock_;
    time_point forgets_before_ = time_point::min();
    tables has_{clock_};
    std::shared_ptr<stream> follows_;                // on a replica
    std::vector<std::shared_ptr<stream>> followers_; // on a primary
    std::uint64_t writes_ = 0;
    std::uint64_t demotions_ = 0;
    bool is_primary_ = true;
    bool stands_still_ = false;
    std::vector<std::function<void()>> when_it_goes_on_;
    std::multimap<std::string, ear*> ears_;
    std::function<void(const count_record&)> keeps_record_;
};

/// Returns the channel that notifies an owner that waits for a fair lock. Each such waiter has its
/// own channel; other locks have one channel for all waiters.
inline lock_name channel_of(const lock_name& name, const std::string& owner) {
    return name.text + '\0' + owner;
}
/// Returns the channel that notifies waiters of a counter: it has more permits, or the latch is
/// open.
inline lock_name channel_of(const lock_name& name, counter_kind kind) {
    return name.text + (kind == counter_kind::latch ? std::string{"\0latch", 6}
                                                    : std::string{"\0semaphore", 10});
}
inline lock_name channel_of(const hold& waits) {
    if (waits.kind == lock_kind::permit)
        return channel_of(waits.name, counter_kind::permits);
    return waits.kind == lock_kind::fair ? channel_of(waits.name, to_string(waits.owner))
                                         : waits.name;
}

} // namespace holdfast::memory
