// SPDX-License-Identifier: Apache-2.0
// Simulation of several servers and their clients, with all running operations and all leases.
#pragma once

#include "sim/dice.hpp"
#include "sim/ledger.hpp"
#include "sim/network.hpp"
#include "sim/trace.hpp"
#include "sim/world.hpp"
#include "support/clocks.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/time.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::sim::several {

// Running operations and leases of the simulated programs, for the checkers.

/// One lock on one server (`spot`).
struct spot {
    int server = 0;
    int name = 0;
    auto operator<=>(const spot&) const = default;
};

/// How several locks are combined: one lock alone, all, any one of them, or a majority.
enum class way { single, all, any, majority };

/// Asynchronous operation that is running or has just ended.
struct deal {
    deed what{};
    way how = way::single;
    int program = -1;
    int actor = -1;
    std::vector<spot> of{};
    duration timeout = duration::max();
    duration lease{}; ///< requested lease time
    time_point started_at{};
    std::vector<int> generations{}; ///< generations of the program's clients, by server
    std::optional<time_point> cancelled_at{};
};

/// Part of a lease of several locks: the hold on one server.
struct share_of_claim {
    spot where{};
    std::string owner{};
    std::shared_ptr<sync::lock_handle> hold{};
};

/// Lease of one or several locks that a caller has, with the information that the checkers need.
struct claim {
    claim(const deal&, lease, duration longest_asked);
    claim(const claim&) = delete;

    const way how;
    const int program, actor;
    const std::vector<spot> of;         ///< the locks, in the order of the members
    const std::vector<int> generations; ///< generations of the clients when the lock was requested
    lease held;
    const void* const hold; ///< identity of the hold; equal for leases of the same hold
    duration longest;       ///< longest lease time that was requested
    bool told_lost = false;
    std::optional<std::stop_callback<std::function<void()>>> on_lost{};
    /// time since which a needed server does not show this owner
    std::optional<time_point> absent_since{};

    bool is_joint() const { return how == way::all || how == way::majority; }
    std::size_t needs() const { return how == way::majority ? of.size() / 2 + 1 : of.size(); }
    std::vector<share_of_claim> shares() const; ///< returns the current parts of the lease
};

/// Lease that its caller believes to be valid.
struct belief {
    claim* of;
    std::vector<share_of_claim> shares; ///< current parts of the lease
};

class accounts {
public:
    using deals = std::map<std::uint64_t, deal>; // operations in the order of their start

    std::uint64_t begin(deal d) {
        under_way_.emplace(++last_, std::move(d));
        return last_;
    }
    deal& at(std::uint64_t id) { return under_way_.at(id); }
    deal end(std::uint64_t id) { return under_way_.extract(id).mapped(); }
    const deals& under_way() const { return under_way_; }

    void add(claim& c) { claims_.push_back(&c); }
    void remove(const claim& c) { std::erase(claims_, &c); }
    const std::vector<claim*>& claims() const { return claims_; }

private:
    deals under_way_;
    std::vector<claim*> claims_;
    std::uint64_t last_ = 0;
};

// Simulation of several servers, with one clock, one thread and one seed, like `world`. Each
// program has a client for each server, and takes several locks as one, or single locks.

class audit;

/// One server and its faults.
struct node {
    explicit node(clock& time)
        : server{time} {}
    memory::server server;
    /// time until which the server may show a wrong owner after a fault, by name
    std::map<int, time_point> doubt_until{};
    std::map<int, time_point> broke_until{}; ///< the same, for faults that a quorum need not
                                             ///< survive
    std::vector<time_point> restarts{};
    duration stepped_back{};
    bool is_faithful = true; ///< whether the server has lost no data and has a right clock
    /// number of changes of the server's state at the last check; empty after a step of its clock
    std::optional<std::uint64_t> changes_seen{};
};

/// Client of a program for one server, with its connection. A new client may replace it.
struct terminal {
    terminal(int p, int s, dice d, network w)
        : program{p}
        , server{s}
        , random{d}
        , net{std::move(w)} {}
    const int program, server;
    dice random;
    network net;
    std::unique_ptr<client> at;
    int generation = 0; ///< counts the closed clients: grows when a client begins to close
    int of_client = 0;  ///< generation of the current client
};

class realm {
public:
    struct customs {
        rules how{};
        bool is_serial = false; ///< whether clients use a serial executor, without a strand
        bool is_quorum = false; ///< whether each name is one lock on all servers
        duration node_timeout{50};
    };

    realm(std::uint64_t seed, customs, int servers, int names);
    realm(const realm&) = delete;
    ~realm();

    asio::io_context services; ///< never runs; see client_executor()
    /// Without mutexes, because only one thread uses it.
    asio::io_context io{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    sim_clock clock{io};
    std::deque<node> nodes;
    const customs ways;
    const rules& how = ways.how;
    dice chance;
    trace log{clock};
    accounts books;
    std::deque<std::deque<terminal>> programs;

    int add_program(weather = {}); ///< adds a program and returns its number
    terminal& at(int program, int server) {
        return programs[static_cast<std::size_t>(program)][static_cast<std::size_t>(server)];
    }
    const terminal& at(int program, int server) const {
        return programs[static_cast<std::size_t>(program)][static_cast<std::size_t>(server)];
    }
    /// Returns whether the client of one of the locks was closed after the lock was requested.
    bool is_closed(const claim& c) const {
        return std::ranges::any_of(c.of, [&](spot where) {
            return at(c.program, where.server).generation !=
                   c.generations[static_cast<std::size_t>(where.server)];
        });
    }
    node& node_at(int server) { return nodes[static_cast<std::size_t>(server)]; }
    const node& node_at(int server) const { return nodes[static_cast<std::size_t>(server)]; }
    void start_client(terminal&);
    void close_began(terminal&); ///< called when a client begins to close or is destroyed
    asio::awaitable<void> close(terminal&);

    void play(asio::awaitable<void> story);
    asio::awaitable<void> sleep(duration);
    void after_steps(std::size_t, std::function<void()>);
    void run_until(time_point); ///< runs until this time or until the first violation
    void run_for(duration d) { run_until(clock.now() + d); }
    duration elapsed() const { return clock.now() - start_; }

    // Functions that cause faults of a server.
    void step_clock(int server, duration);
    void set_rate(int server, double);
    void restart_empty(int server);
    void evict(spot);
    void occupy(spot, duration lease);
    void vacate(spot);
    /// Connects the stores with the server again. The clients then ask about their holds.
    asio::awaitable<void> reconnect(int server, duration takes);

    /// Returns the error text that a client has reported last.
    const std::string& last_words() const { return last_words_; }

    int servers() const { return static_cast<int>(nodes.size()); }
    int names() const { return names_; }
    static const lock_name& name_of(int number) { return world::name_of(number); }
    const sighting& seen(spot where) const {
        return sightings_[static_cast<std::size_t>(where.server * names_ + where.name)];
    }
    /// Returns the leases that their callers believe to be valid now.
    std::vector<belief> beliefs() const;
    std::string holder(spot) const; ///< returns the current holder; empty: the lock is free
    /// Returns the place of the client that this owner belongs to, or null for a foreign client.
    const terminal* home_of(const std::string& owner) const;

    /// Returns whether the server must show its grants, because no fault affects this lock now.
    bool is_well(spot where) const { return clock.now() > until(where, &node::doubt_until); }
    /// Returns whether the quorum must have kept the lock: there was no fault that a quorum need
    /// not survive.
    bool quorum_promised(int name) const;

    void violated(const char* invariant, int name, std::string story);
    const std::optional<violation>& verdict() const { return verdict_; }
    audit& checks() { return *checks_; }

private:
    void after_step();
    void look_at_servers();
    void look_at(spot, const memory::server_state&);
    sighting& sighting_at(spot where) {
        return sightings_[static_cast<std::size_t>(where.server * names_ + where.name)];
    }
    void sent(terminal&, const memory::request&, const memory::fate&);
    void in_doubt(spot, bool beyond_promise, duration from_now = {});
    void all_in_doubt(int server, bool beyond_promise);
    time_point until(spot, std::map<int, time_point> node::*) const;

    const int names_;
    const time_point start_ = clock.now();
    std::vector<sighting> sightings_; ///< by server and name
    by_text<const terminal*> identities_;
    std::vector<delayed> delayed_;
    std::size_t steps_ = 0;
    std::string last_words_;
    std::optional<violation> verdict_;
    std::unique_ptr<audit> checks_;
};

} // namespace holdfast::sim::several
