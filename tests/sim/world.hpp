// SPDX-License-Identifier: Apache-2.0
// Simulation: a simulated server, real clients of the library, one clock, one thread, one seed. The
// checkers run between any two steps.
#pragma once

#include "sim/dice.hpp"
#include "sim/ledger.hpp"
#include "sim/network.hpp"
#include "sim/replica_set.hpp"
#include "sim/trace.hpp"
#include "store/memory/test_access.hpp"
#include "support/clocks.hpp"

#include <holdfast/client.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/observer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::memory {
struct count_record;
} // namespace holdfast::memory

namespace holdfast::sim {

/// Executor that runs handlers on one io_context, and has its services (sockets, resolvers) in a
/// second one, which never runs. With sockets in the same io_context, it would ask the kernel for
/// events before each handler.
template <typename Executor>
class executor_with_services_apart {
    template <typename Property>
    static constexpr bool is_context =
        std::is_same_v<Property, asio::execution::context_as_t<asio::execution_context&>>;

public:
    executor_with_services_apart(Executor runs, asio::execution_context& services)
        : runs_{std::move(runs)}
        , services_{&services} {}

    bool operator==(const executor_with_services_apart&) const noexcept = default;

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *services_; }
    template <typename Property>
    requires(asio::can_query_v<const Executor&, Property> && !is_context<Property>) decltype(auto)
        query(const Property& wanted) const noexcept {
        return asio::query(runs_, wanted);
    }
    template <typename Property>
    requires asio::can_require_v<const Executor&, Property>
    auto require(const Property& wanted) const {
        using other = std::decay_t<decltype(asio::require(runs_, wanted))>;
        return executor_with_services_apart<other>{asio::require(runs_, wanted), *services_};
    }
    template <typename Function>
    void execute(Function&& what) const {
        runs_.execute(std::forward<Function>(what));
    }

private:
    Executor runs_;
    asio::execution_context* services_;
};

inline asio::any_io_executor client_executor(asio::io_context& runs, asio::io_context& services) {
    return executor_with_services_apart{runs.get_executor(), services};
}

class inspection;

/// Function to call after a number of steps of the simulation.
struct delayed {
    std::size_t step;
    std::function<void()> act;
};
/// Calls the functions whose step has come, and removes them.
void act_if_due(std::vector<delayed>&, std::size_t step);

/// Settings of a simulation.
struct rules {
    duration lease_time{6000};
    /// longest lease that any client or other program requests
    duration lease_longest{6000};
    duration command_timeout{1000};
    duration poll_bound{2000};
    duration unavailable_timeout{4000};
    duration release_timeout{1500};
    duration close_timeout{1000};
    std::optional<duration> max_hold{};
    bool release_on_close = false;
    std::size_t waiters_max = 1'000'000;
    holdfast::hand_off hand_off{};
    int fair = 0;                   ///< number of names with fair locks; these are the first names
    std::vector<lock_kind> kinds{}; ///< kind of lock of the other names; empty: all are plain
    /// kind of counter of each name; empty: the name is a lock
    std::vector<std::optional<counter_kind>> counters{};
    replication replicas{};  ///< replicas of the server
    duration session_time{}; ///< session timeout of each client; zero: holds do not depend on a
                             ///< session

    bool by_session() const { return session_time > duration{}; }
    /// Returns the lease that a caller gets for a requested lease.
    duration given_for(duration lease) const {
        return by_session() ? std::min(lease, session_time) : lease;
    }

    /// Returns the kind of the counter with this name, or nothing if the name is a lock.
    std::optional<counter_kind> counts(int name) const {
        const auto place = static_cast<std::size_t>(name);
        return place < counters.size() ? counters[place] : std::nullopt;
    }

    /// Returns the smallest `waiter_timeout` that the library allows: how long an entry in a queue
    /// lasts.
    duration waiter_timeout() const {
        return poll_bound + unavailable_timeout + 2 * command_timeout;
    }
    duration stranger_waits() const { return 2 * lease_time; }
    bool is_fair(int name) const { return name < fair; }
    /// Returns whether it is a token lock, which other programs release without a notification.
    bool is_token(int name) const {
        const auto place = static_cast<std::size_t>(name);
        return !is_fair(name) && place < kinds.size() && kinds[place] == lock_kind::token;
    }
};

/// Place for a simulated program, with its connection to the server. When a program has ended, a
/// new one can start in the same place.
struct seat {
    seat(int n, dice d, network w)
        : number{n}
        , random{d}
        , net{std::move(w)} {}
    const int number;
    dice random;
    network net;
    std::unique_ptr<client> program;
    int generation = 0;    ///< counts the closed programs: grows when a program begins to close
    int of_program = 0;    ///< generation of the current program
    heard_news news{};     ///< when this place learns of the last new primary
    std::string asks{};    ///< server that the program uses, by its own report
    time_point moved_at{}; ///< time at which the program moved to this server
};

struct violation {
    const char* invariant;
    std::string story;
    int name; ///< number of the lock, or -1
};

/// Holders of a lock on the server.
struct sighting {
    std::string owner{}; ///< owner, or the first of several owners; empty: the lock is free
    duration remaining{};
    /// all owners, if several share the lock
    std::vector<std::string> owners{};
    bool written = false; ///< whether it is held to write, or alone

    std::map<std::string, duration> permits{}; ///< remaining lease of each permit, by id

    bool shows_nobody() const { return owner.empty() && permits.empty(); }

    /// Returns whether the server shows the lease. If it is a lease of permits, all of them must be
    /// there.
    bool shows(const claim& c) const {
        if (c.permits.empty())
            return shows(c.owner);
        return std::ranges::all_of(c.permits,
                                   [this](const auto& each) { return permits.contains(each); });
    }
    duration left_of(const claim& c) const {
        duration least = c.permits.empty() ? remaining : duration::max();
        for (const std::string& each : c.permits)
            least = std::min(least, permits.at(each));
        return least;
    }
    bool shows(const std::string& one) const {
        return std::find(owners.begin(), owners.end(), one) != owners.end();
    }
};

sighting sighting_of(holding);
/// Brings the remaining time up to date. Returns false if more than time has changed, so that the
/// lock must be read anew.
bool is_still(sighting&, const memory::server_state&, const lock_name&);
/// Returns the held lock with this name. Returns nothing if it is free or not a lock.
std::optional<holding> lock_at(const memory::server&, const lock_name&);

class world {
public:
    world(std::uint64_t seed, rules, int names);
    world(const world&) = delete;
    ~world();

    asio::io_context services; ///< never runs; see client_executor()
    /// Without mutexes, because only one thread uses it.
    asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    sim_clock clock{io};
    memory::server server{clock};
    const rules how;
    dice chance;
    bool shares = false; ///< whether the locks are read-write locks
    dice further;        ///< dice for newer features, so that old seeds keep their meaning
    trace log{clock};
    ledger books;
    std::deque<seat> seats;
    replica_set replicas;

    seat& add_seat(weather = {});
    void start_program(seat&); ///< starts a new client in this place
    void close_began(seat&);   ///< called when a client begins to close or is destroyed

    void play(asio::awaitable<void> story);
    asio::awaitable<void> sleep(duration);
    void after_steps(std::size_t, std::function<void()>);

    // Runs until this time or until the first violation.
    void run_until(time_point);
    /// Exception that a user's handler throws. `about_to_throw` makes and counts it.
    struct blunder;
    blunder about_to_throw(subject);
    /// whether each of these exceptions has left the executor
    bool all_came_out() const { return thrown_ == came_out_; }

    void run_for(duration d) { run_until(clock.now() + d); }
    duration elapsed() const { return clock.now() - start_; }

    // Functions that cause faults of the server. After some of them, two clients may hold a lock
    // for a while.
    void step_clock(duration);
    void set_rate(double);
    void restart_empty();
    void evict(int name);
    void occupy(int name, duration lease, lock_kind = lock_kind::plain);
    void vacate(int name);
    /// Changes a counter as another program.
    void count(int name, counter_verb, std::int64_t amount = 0);
    void take_permit(int name, duration lease); ///< takes a permit as another program
    /// Returns the value of a counter; for permits, the number of held and free permits.
    std::optional<std::int64_t> counter(int name) const;
    /// returns the number of free permits; for a latch, the remaining count
    std::int64_t available(int name) const;
    /// Returns whether each client has its own rate, so that the total number of free permits is
    /// unknown.
    bool is_drawn_by_each(int name) const;
    bool is_set(int name) const; ///< whether the rate limiter exists now
    /// Returns when the rate limiter was last set or deleted. Until then, a client may have found
    /// none.
    time_point set_since(int name) const { return set_since_[static_cast<std::size_t>(name)]; }
    // Acts as a JVM with Redisson that asks for a fair lock. Returns whether the JVM has the lock.
    bool stranger_looks(int name, const std::string& owner, duration wait);
    void stranger_releases(int name, const std::string& owner);
    void stranger_gives_up(int name, const std::string& owner, duration wait);
    /// Queue of a fair lock on the server.
    struct shown_queue {
        std::vector<std::string> owners{}; ///< the next waiter first
        std::uint64_t version = 0;         ///< grows when the owners change
    };
    /// Returns the queue of a fair lock. The reference is valid as long as the world.
    const shown_queue& queue_of(int name) const;
    const std::vector<std::string>& waiting(int name) const { return queue_of(name).owners; }
    /// returns the waiting holdfast clients whose entries have not expired
    std::vector<std::string> counting(int name) const;
    /// Version of the server's state. While it is the same, holders and queues have not changed.
    struct server_stamp {
        const void* machine = nullptr;
        std::uint64_t changes = 0;
        std::uint64_t clock_changes = 0;
        time_point now{};
        bool operator==(const server_stamp&) const = default;
        /// Returns whether only time has passed. Then holds may have ended, but none has begun.
        bool is_same_state(server_stamp other) const {
            other.now = now;
            return *this == other;
        }
    };
    server_stamp stamp() const;
    /// Returns `to_string(owner)`. The text is valid until the next call for another owner.
    const std::string& text_of(const owner_id& owner) const;
    std::string holder(int name) const; ///< returns the current holder; empty: the lock is free
    /// Returns whether the entry of a dead waiter may be in a queue.
    bool anybody_may_be_dead() const;
    bool jvms_came() const { return jvms_came_; } ///< whether JVMs have joined a queue

    int names() const { return static_cast<int>(sightings_.size()); }
    static const lock_name& name_of(int number) {
        static const std::array<lock_name, 10> all{"lock0", "lock1", "lock2", "lock3", "lock4",
                                                   "lock5", "lock6", "lock7", "lock8", "lock9"};
        return all.at(static_cast<std::size_t>(number));
    }
    static int number_of(std::string_view name) { return name.back() - '0'; }
    int client_of(const std::string& owner) const; ///< returns the client's number, or -1
    /// Returns the owner that requested this permit, or an empty text if another program did.
    std::string lease_of(const std::string& permit) const {
        const auto known = lease_of_permit_.find(permit);
        return known == lease_of_permit_.end() ? std::string{} : known->second;
    }

    const sighting& seen(int name) const { return sightings_[static_cast<std::size_t>(name)]; }
    double rate() const { return rate_; }
    bool exclusion_promised(int name) const;
    /// Returns whether the server must show the lease while its client believes in it.
    bool promised(const claim&);
    /// Returns whether tokens must grow: the server has not lost its counter of tokens.
    bool tokens_promised(int name) const;
    /// Notes a failover: the server may have forgotten unconfirmed data, and may show waiters that
    /// are gone.
    void fails_over() { somebody_died_ = true, faithful_ = false; }
    /// whether the server has lost no data and has a right clock
    bool server_is_faithful() const { return faithful_; }
    bool clock_was_stepped() const { return stepped_; }
    /// whether the clock was slower than holdfast promises to tolerate
    bool clock_was_slow() const { return was_slow_; }
    duration stepped_back() const { return stepped_back_; }

    void violated(const char* invariant, int name, std::string story);
    const std::optional<violation>& verdict() const { return verdict_; }
    inspection& checks() { return *checks_; }

private:
    bool step();
    void after_step();
    void at_rest();
    void look_at_server();
    sighting look_at_permits(int name) const;
    memory::way way_of(seat&);
    void sent(seat&, const memory::request&, const memory::fate&);
    void heard(seat&, int generation, const event&);
    void counted(const memory::count_record&);
    void in_doubt(int name, duration from_now = {});
    void all_in_doubt();

    const time_point start_ = clock.now();
    std::vector<sighting> sightings_;
    server_stamp sighted_at_{};
    struct read_queue {
        const void* machine = nullptr;
        std::uint64_t changes = 0;
        shown_queue shown{};
    };
    mutable std::vector<read_queue> queues_; ///< each fair lock's queue, as last read
    std::vector<time_point> doubt_until_;
    time_point tokens_doubted_until_{};
    by_text<int> identities_;              ///< number of the place, by identity of the client
    by_text<std::string> lease_of_permit_; ///< owner of each permit, by permit id
    /// time of the last set or deletion of each rate limiter, by name
    std::vector<time_point> set_since_;
    std::uint64_t strangers_permits_ = 0;
    const bool keeps_permits_ = std::ranges::count(how.counters, counter_kind::permits) > 0;
    std::vector<delayed> delayed_;
    std::size_t steps_ = 0;
    std::uint64_t clock_changes_ = 0; ///< number of changes of the server's clock
    mutable owner_id last_owner_{};
    mutable std::string text_of_last_owner_ = to_string(owner_id{});
    double rate_ = 1;
    bool faithful_ = true;
    bool stepped_ = false;
    std::size_t thrown_ = 0;
    std::size_t came_out_ = 0;
    bool was_slow_ = false;
    bool somebody_died_ = false;
    bool jvms_came_ = false;
    duration stepped_back_{};
    std::optional<violation> verdict_;
    std::unique_ptr<inspection> checks_;
};

/// Its base class is a type that the library itself catches in other places.
struct world::blunder : boost::system::system_error {
    blunder();
};

} // namespace holdfast::sim
