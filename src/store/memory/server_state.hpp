// SPDX-License-Identifier: Apache-2.0
// State of one machine of a memory::server, which is the model of a real server. The scripts of the
// Redis store behave in the same way: one conformance suite tests both. A primary sends its data to
// each replica through a `stream`.
#pragma once

#include "store/memory/counter_tables.hpp"
#include "store/memory/lock_tables.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

/// Wish for the owners of a lock: a request to release it soon.
struct stored_wish {
    wish what;
    std::vector<std::string> owners;
    microseconds ends_at{};
};

/// All data of a server. Expiry times are times of the primary's clock. Replicas store these times
/// unchanged. Thread safety: none; the server's mutex protects it.
struct tables {
    /// Creates an empty object. The clock must outlive it.
    explicit tables(const server_clock& clock)
        : locks{clock}
        , fair{clock, locks}
        , shared{clock}
        , tokens{clock}
        , counters{clock}
        , permits{clock}
        , rates{clock} {}
    tables(const tables&) = delete;

    void clear() {
        locks.clear();
        fair.clear();
        shared.clear();
        tokens.clear();
        counters.clear();
        permits.clear();
        rates.clear();
        wishes.clear();
    }

    void become(const tables& other) {
        locks.become(other.locks);
        fair.become(other.fair);
        shared.become(other.shared);
        tokens.become(other.tokens);
        counters.become(other.counters);
        permits.become(other.permits);
        rates.become(other.rates);
        wishes = other.wishes;
    }

    exclusive_table locks;
    fair_table fair;
    shared_table shared;
    exclusive_table tokens; ///< token locks, which are strings; other locks are hashes
    counter_table counters; ///< semaphores and latches
    permit_table permits;
    rate_table rates;
    std::map<std::string, stored_wish> wishes{}; ///< latest wish for each name
};

/// Stream of data from a primary to one replica. After each write, the primary sends a full copy.
/// The copy arrives after the time `lag`. The confirmation takes the time `lag` once more until it
/// reaches the primary. Copies arrive in order. Thread safety: any thread may call any function.
class stream {
public:
    using copy = std::shared_ptr<const tables>;

    explicit stream(duration lag)
        : lag_{lag} {}

    // Sends a copy of the data after the write with this number.
    void send(std::uint64_t write, copy, time_point now);
    /// Returns the number of the last write that the primary knows to have arrived. The result is
    /// empty if there is none yet.
    std::optional<std::uint64_t> confirmed(time_point now);
    /// Returns the next time at which the primary may learn that a later write has arrived, so that
    /// confirmed() returns a greater number. Returns `time_point::max()` if each copy that was sent
    /// is already confirmed.
    time_point next_confirmation(time_point now);

    /// Returns the latest copy that has arrived since the last call, or null if there is none.
    /// Called by the replica.
    copy take_arrived(time_point now);
    /// Returns the number of the last write that has arrived. The result is empty if none has
    /// arrived yet.
    std::optional<std::uint64_t> arrived(time_point now);

    void set_lag(duration); ///< sets the lag of later copies; no copy overtakes another
    bool is_cut();
    /// Ends the stream for ever. Copies and confirmations on their way are lost.
    void cut(time_point now);
    void pause(time_point now); ///< stops deliveries, because the replica is stopped
    void go_on(time_point now);

private:
    struct parcel {
        std::uint64_t write;
        copy all;
        time_point arrives_at, known_at;
    };

    void settle(time_point now);

    std::mutex mutex_;
    duration lag_;
    std::deque<parcel> under_way_; // copies without a confirmation at the primary
    std::optional<std::uint64_t> arrived_, confirmed_;
    copy latest_;
    time_point last_arrival_ = time_point::min();
    bool is_cut_ = false;
    bool is_paused_ = false;
};

class subscriber;

/// Record of one request about a counter, for the simulator. One of the three pointers is set.
struct count_record {
    const counter_ask* taken = nullptr;
    const counter_ask* given_back = nullptr;
    /// Set if the request is a change. If another program made the change, the number of the
    /// request is 0.
    const counter_change* changed = nullptr;
    /// Value before and after the request. For a semaphore or a latch, this is the stored number.
    /// For a leased semaphore, it is the number of held and free permits. Empty if there is no such
    /// counter, or if the counter is a rate limiter.
    std::optional<std::int64_t> before{};
    std::optional<std::int64_t> after{};
    bool granted = false; ///< true: permits were taken, or the change was made
    microseconds at{};
};

struct forced_verdict {
    bool late = false;
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other = nullptr;
    forced what{};
};

/// One machine: a primary or a replica. Thread safety: any thread may call any function.
class server_state {
public:
    explicit server_state(std::function<time_point()> clients_clock, std::size_t number = 0);

    const std::size_t number; ///< index of the machine in its group

    static bool keeps(lock_kind) noexcept { return true; }
    static bool keeps(counter_kind) noexcept { return true; }

    // Functions that execute requests of clients.

    /// Tries once to take a lock. Refuses the request as late if this server's clock has passed
    /// `deadline`.
    verdict_on_look look(const ask&, std::optional<microseconds> deadline);
    struct renewed {
        bool is_held = false;
        std::optional<duration> left_before{}; ///< value for `answer::left_before`
    };
    std::vector<renewed> renew(const std::vector<hold>&, duration lease_time);
    release_answer release(const hold&);
    static bool transfers(lock_kind) noexcept;
    /// Transfers a hold to the owner `to` (`lock_store::transfer`). The verdict is `busy` if
    /// neither of the two owners holds the lock. Refuses the request as late if this server's clock
    /// has passed `deadline`.
    verdict transfer(const hold&, const owner_id& to, duration lease_time,
                     std::optional<microseconds> deadline);
    std::optional<holding> inspect(const lock_name&) const;
    /// Returns the lock with this name. The result is empty if the lock is free or the name is not
    /// a lock.
    std::optional<holding> lock_at(const lock_name&) const;
    /// Returns the remaining lease of a lock with a single holder, or `duration::max()` if the
    /// lease never ends. The result is empty if this owner does not hold the lock, or if the lock
    /// is a read-write lock.
    std::optional<duration> left_of(const lock_name&, const std::string& owner) const;
    /// Ends a lock by force (`inspector::force_release` and `force_kind`). Refuses the request as
    /// late if this server's clock has passed `deadline`.
    forced_verdict force(const lock_name&, const std::string& only_from, std::optional<lock_kind>,
                         std::optional<microseconds> deadline);
    std::uint64_t last_token(const lock_name&) const;
    std::optional<lock_state> describe(const lock_name&) const;
    lock_list list(const std::string& pattern, std::size_t limit) const;

    /// Result of ask_holders().
    struct asked_verdict {
        std::vector<std::string> owners{};
        /// If another kind of lock or counter uses the name: this kind, as text for messages.
        /// Otherwise null.
        const char* other = nullptr;
    };
    /// Stores a wish. A wish asks the holders of a lock to release it soon; see `wish_store`.
    asked_verdict ask_holders(const lock_name&, const wish&, duration kept);
    std::optional<wish> wish_for(const hold&) const;

    // Functions that execute requests about counters. A request after `deadline` is refused as
    // late. `memory` is the time for which the server remembers the answer.
    count_verdict count(const counter_ask&, std::optional<microseconds> deadline, duration memory);
    void give_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, std::optional<microseconds> deadline,
                          duration memory);
    counter_state inspect_counter(const lock_name&, counter_kind,
                                  const rate_table::drawer& client) const;
    counter_list list_counters(counter_kind, const std::string& pattern, std::size_t limit,
                               const rate_table::drawer& client) const;
    /// Returns the value of a semaphore or a latch. For a leased semaphore, returns the number of
    /// held and free permits. The result is empty if there is no such counter.
    std::optional<std::int64_t> count_of(const lock_name&, counter_kind) const;
    /// Returns the remaining lease of each leased permit, by permit id.
    std::map<std::string, duration> permits_held(const lock_name&) const;
    /// If another kind than the given one uses the name, returns this other kind, as text for
    /// messages. Otherwise returns null.
    const char* other_kind(const lock_name&, counter_kind) const;

    microseconds now() const;

    /// Records a request of the client. From now on, all holds of the client last at least for
    /// `session_time`.
    void prolong_session(const std::array<std::uint8_t, 16>& client, duration session_time);

    /// Returns the identifier of this machine, which no other machine of the process has.
    const std::string& id() const noexcept { return id_; }
    /// Returns the time (by the clients' clock) before which changes may have been lost. Returns
    /// `time_point::min()` if no change was lost.
    time_point forgets_before() const;

    // Functions for replication (replicas.cpp). Each request that changes data is a write.
    bool is_primary() const;
    /// Makes this machine a primary, with the data that have arrived so far.
    void be_primary();
    std::uint64_t demotions() const;      ///< how often the machine stopped being the primary
    void follow(std::shared_ptr<stream>); ///< makes this machine a replica; it keeps its data
    /// Adds a replica. The replica gets all data first, and then each write.
    void feed(const std::shared_ptr<stream>&);
    std::uint64_t writes() const; ///< number of writes so far
    /// Returns the number of replicas that have all writes up to `write`.
    unsigned confirmed(std::uint64_t write) const;
    /// Returns the time of the next confirmation by a replica, or `time_point::max()` if none is
    /// expected.
    time_point next_confirmation() const;
    /// Returns the number of the primary's last write that this replica has. The result is empty if
    /// the machine follows no primary, or if no copy has arrived yet.
    std::optional<std::uint64_t> received() const;

    // A stopped machine executes nothing. After resume(), it executes all requests that have
    // arrived.
    bool stands_still() const;
    void stop();
    void resume();
    /// Runs the function now. If the machine is stopped, the function runs instead when resume() is
    /// called, on the thread that calls resume().
    void when_it_goes_on(std::function<void()>);

    // Subscribers that are notified of releases.
    void add(subscriber&);
    void remove(subscriber&);

    // Functions with which tests change the machine.
    void step_clock(duration);
    void set_clock_rate(double);
    void forget_all();
    bool forget(const lock_name&);
    void occupy(const lock_name&, duration lease_time, lock_kind);
    bool vacate(const lock_name&);
    bool cut_readers(const lock_name&, duration lease_time);
    std::size_t held_count() const;
    std::size_t listener_count() const;

    // Changes that a test makes as another program would. The server does not remember these
    // requests.
    void stranger_changes(const counter_change&);
    void stranger_takes_permits(const hold&, duration lease_time);
    std::size_t requests_remembered() const;
    /// Sets a function that the server calls for each request about a counter, except for late
    /// requests. The server calls it with the mutex held, so the function must not call the server.
    void tell_of_counts(std::function<void(const count_record&)>);

    // Queues for a fair lock as a Redisson client does, with the times that Redisson computes.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease);
    void stranger_leaves(const lock_name&, const std::string& owner, duration wait);
    bool stranger_releases(const lock_name&, const std::string& owner);
    /// Sets the fairLockWaitTimeout of the Redisson clients: how long such a client waits in a
    /// queue.
    void set_jvm_wait(duration);
    duration stranger_waits() const;
    std::vector<std::string> waiting(const lock_name&) const;
    bool read_waiting(const lock_name&, std::vector<std::string>& known) const;
    std::vector<std::string> counting(const lock_name&) const;
    /// Returns a number that grows with each call that may have changed a holder or a queue. The
    /// number does not grow when a lease or an entry expires.
    std::uint64_t changes() const;

private:
    using guard = std::lock_guard<std::mutex>;

    /// Guard that records one write at the end of its scope.
    class writing {
    public:
        explicit writing(server_state& at)
            : at_{at} {}
        writing(const writing&) = delete;
        ~writing() { at_.wrote(); }

    private:
        server_state& at_;
    };

    // Functions whose caller must hold the mutex.
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
    // Stream from the primary, if this is a replica.
    std::shared_ptr<stream> follows_;
    // Streams to the replicas, if this is the primary.
    std::vector<std::shared_ptr<stream>> followers_;
    std::uint64_t writes_ = 0;
    std::uint64_t demotions_ = 0;
    bool is_primary_ = true;
    bool stands_still_ = false;
    std::vector<std::function<void()>> when_it_goes_on_;
    std::multimap<std::string, subscriber*> subscribers_;
    std::function<void(const count_record&)> keeps_record_;
};

/// Returns the channel that notifies waiters of a lock. In a fair lock, each waiter has a channel
/// of its own. In any other lock, all waiters share one channel.
inline lock_name channel_of(const lock_name& name, const std::string& owner) {
    return name.text + '\0' + owner;
}
/// Returns the channel that notifies waiters of a counter. They are notified when permits are free,
/// or when the latch is open.
inline lock_name channel_of(const lock_name& name, counter_kind kind) {
    return name.text + (kind == counter_kind::latch ? std::string{"\0latch", 6}
                                                    : std::string{"\0semaphore", 10});
}
/// Returns the channel for wishes. It notifies the holders of a lock that another client wants the
/// lock.
inline lock_name wish_channel(const lock_name& name) {
    return lock_name{"holdfast_asked:" + name.text};
}
inline lock_name channel_of(const hold& waits) {
    if (waits.kind == lock_kind::permit)
        return channel_of(waits.name, counter_kind::permits);
    return waits.kind == lock_kind::fair ? channel_of(waits.name, to_string(waits.owner))
                                         : waits.name;
}

} // namespace holdfast::memory
