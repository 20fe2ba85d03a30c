// SPDX-License-Identifier: Apache-2.0
// The model: what a lock on a server is. The Redis store's scripts mean the same; both are held
// against one conformance suite.
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

/// What one request about a counter came to, for the simulator: one of the three.
struct count_record {
    const counter_ask* taken = nullptr;
    const counter_ask* given_back = nullptr;
    const counter_change* changed = nullptr; ///< number 0: a stranger's
    /// Of a semaphore or latch the number, of permits all of them, the held ones too; nothing:
    /// there was none, or it is a rate.
    std::optional<std::int64_t> before{};
    std::optional<std::int64_t> after{};
    bool granted = false; ///< what was to be taken is, or the change is done
    microseconds at{};
};

struct forced_verdict {
    bool late = false;
    const char* other = nullptr; ///< in words, the other kind that has the name
    forced what{};
};

/// One machine: a primary, or a replica.
/// Thread safety: every member may be called from any thread.
class server::state {
public:
    explicit state(std::function<time_point()> clients_clock, std::size_t number = 0);

    const std::size_t number; ///< in its group

    static bool keeps(lock_kind) noexcept { return true; }
    static bool keeps(counter_kind) noexcept { return true; }

    // The verbs.

    /// Comes the request after `deadline`, a moment of this server's clock, it is refused.
    verdict_on_look look(const ask&, std::optional<microseconds> deadline);
    struct renewed {
        bool is_held = false;
        std::optional<duration> left_before{}; ///< see answer
    };
    std::vector<renewed> renew(const std::vector<hold>&, duration lease_time);
    release_answer release(const hold&);
    std::optional<holding> inspect(const lock_name&) const;
    /// As `inspector::force_release` and `force_kind`, with a deadline like a look's.
    forced_verdict force(const lock_name&, const std::string& only_from, std::optional<lock_kind>,
                         std::optional<microseconds> deadline);
    std::uint64_t last_token(const lock_name&) const;
    std::optional<lock_state> describe(const lock_name&) const;
    lock_list list(const std::string& pattern, std::size_t limit) const;

    // Of counters, with a deadline like a look's. So long as `memory` it is known what was
    // answered.
    count_verdict count(const counter_ask&, std::optional<microseconds> deadline, duration memory);
    void give_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, std::optional<microseconds> deadline,
                          duration memory);
    counter_state inspect_counter(const lock_name&, counter_kind,
                                  const rate_table::drawer& client) const;
    counter_list list_counters(counter_kind, const std::string& pattern, std::size_t limit,
                               const rate_table::drawer& client) const;
    /// The permits that are leased, by their ids, and how long each still is.
    std::map<std::string, duration> permits_held(const lock_name&) const;
    /// Returns in words what has that name instead of such a counter. Null: no other kind has it.
    const char* other_kind(const lock_name&, counter_kind) const;

    microseconds now() const;

    /// A request of that client has come: what it holds lasts for so long from now on.
    void prolong_session(const std::array<std::uint8_t, 16>& client, duration session_time);

    const std::string& id() const noexcept { return id_; } ///< no two in a process have the same
    /// By the clients' clock. One that was never restarted has forgotten nothing.
    time_point forgets_before() const;

    // Replication (server_replicas.cpp). Whatever changes something here is a write.
    bool is_primary() const;
    void be_primary();                         ///< with what has arrived by now
    std::uint64_t demotions() const;           ///< so often it was a primary, and is not any more
    void follow(std::shared_ptr<stream>);      ///< from now on it is a replica, with what it has
    void feed(const std::shared_ptr<stream>&); ///< one more replica is sent all, and each write
    std::uint64_t writes() const;              ///< so many so far
    unsigned confirmed(std::uint64_t write) const; ///< by so many replicas, all up to that one
    time_point next_confirmation() const;          ///< `time_point::max()`: none is on its way
    /// Of a replica: up to that write of its primary it has all. Nothing: it is not sent anything,
    /// or has not been sent all yet that there was.
    std::optional<std::uint64_t> received() const;

    // A machine that stands still carries out nothing until it goes on, and then all that came.
    bool stands_still() const;
    void stop();
    void resume();
    void when_it_goes_on(std::function<void()>); ///< on the thread that calls resume()

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
    bool cut_readers(const lock_name&, duration lease_time);
    std::size_t held_count() const;
    std::size_t listener_count() const;

    // What a stranger does to a counter is not remembered.
    void stranger_changes(const counter_change&);
    void stranger_takes_permits(const hold&, duration lease_time);
    std::size_t requests_remembered() const;
    /// Told of each request about a counter that comes in time, within it: it must ask nothing.
    void tell_of_counts(std::function<void(const count_record&)>);

    // A JVM in the queue of a fair lock, by Redisson's arithmetic.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease);
    void stranger_leaves(const lock_name&, const std::string& owner, duration wait);
    bool stranger_releases(const lock_name&, const std::string& owner);
    void set_jvm_wait(duration); ///< how long a JVM waits in a queue (fairLockWaitTimeout)
    duration stranger_waits() const;
    std::vector<std::string> waiting(const lock_name&) const;
    std::vector<std::string> counting(const lock_name&) const;
    /// Grows with each call that may have changed a holder or a queue, but for the clock.
    std::uint64_t changes() const;

private:
    using guard = std::lock_guard<std::mutex>;

    /// What is done until the scope is left is a write.
    class writing {
    public:
        explicit writing(state& at)
            : at_{at} {}
        writing(const writing&) = delete;
        ~writing() { at_.wrote(); }

    private:
        state& at_;
    };

    // All with the mutex held.
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
    std::shared_ptr<stream> follows_;                // of a replica
    std::vector<std::shared_ptr<stream>> followers_; // of a primary
    std::uint64_t writes_ = 0;
    std::uint64_t demotions_ = 0;
    bool is_primary_ = true;
    bool stands_still_ = false;
    std::vector<std::function<void()>> when_it_goes_on_;
    std::multimap<std::string, ear*> ears_;
    std::function<void(const count_record&)> keeps_record_;
};

/// Where an owner that waits for a lock is told: a fair lock tells one waiter, others all.
inline lock_name channel_of(const lock_name& name, const std::string& owner) {
    return name.text + '\0' + owner;
}
/// Where it is told that a counter has more, or is open.
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
