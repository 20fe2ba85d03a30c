// SPDX-License-Identifier: Apache-2.0
// Simulated world of several servers. Each program has a client for each server, and takes several
// locks at once, or single locks. It has one clock, one thread and one seed, like `world`.
#pragma once

#include "sim/by_text.hpp"
#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/several/accounts.hpp"
#include "sim/trace.hpp"
#include "sim/world.hpp"
#include "support/sim_clock.hpp"

#include <holdfast/client.hpp>
#include <holdfast/memory/server.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim::several {

class audit;

/// A server with its faults.
struct node {
    explicit node(clock& time)
        : server{time} {}
    memory::server server;
    std::map<int, time_point> doubt_until{}; ///< by name: until then it may not show the right
                                             ///< owner
    std::map<int, time_point> broke_until{}; ///< by name: the same, for faults that no quorum is
                                             ///< promised to survive
    std::vector<time_point> restarts{};
    duration stepped_back{};
    bool is_faithful = true; ///< it has lost no data and its clock is right
};

/// A program's client for one server, with its connection. Another client may follow it.
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
    int generation = 0; ///< increased when its client begins to close
    int of_client = 0;  ///< the generation of the present client
};

class realm {
public:
    struct customs {
        rules how{};
        bool is_serial = false; ///< clients put no strand around the executor
        bool is_quorum = false; ///< each name is one lock on all servers
        duration node_patience{50};
    };

    realm(std::uint64_t seed, customs, int servers, int names);
    realm(const realm&) = delete;
    ~realm();

    asio::io_context services; ///< never runs: see client_executor()
    asio::io_context io;
    sim_clock clock{io};
    std::deque<node> nodes;
    const customs ways;
    const rules& how = ways.how;
    dice chance;
    trace log{clock};
    accounts books;
    std::deque<std::deque<terminal>> programs;

    int add_program(weather = {}); ///< returns its number
    terminal& at(int program, int server) {
        return programs[static_cast<std::size_t>(program)][static_cast<std::size_t>(server)];
    }
    const terminal& at(int program, int server) const {
        return programs[static_cast<std::size_t>(program)][static_cast<std::size_t>(server)];
    }
    /// Returns whether a client of one of its locks has been closed since the lock was requested.
    bool is_closed(const claim& c) const {
        return std::ranges::any_of(c.of, [&](spot where) {
            return at(c.program, where.server).generation !=
                   c.generations[static_cast<std::size_t>(where.server)];
        });
    }
    node& node_at(int server) { return nodes[static_cast<std::size_t>(server)]; }
    const node& node_at(int server) const { return nodes[static_cast<std::size_t>(server)]; }
    void start_client(terminal&);
    void close_began(terminal&); ///< its client is told to close, or destroyed
    asio::awaitable<void> close(terminal&);

    void play(asio::awaitable<void> story);
    asio::awaitable<void> sleep(duration);
    void after_steps(std::size_t, std::function<void()>);
    void run_until(time_point); ///< or until the first violation
    void run_for(duration d) { run_until(clock.now() + d); }
    duration elapsed() const { return clock.now() - start_; }

    // Faults of a server.
    void step_clock(int server, duration);
    void set_rate(int server, double);
    void restart_empty(int server);
    void evict(spot);
    void occupy(spot, duration lease);
    void vacate(spot);
    /// Does what a store does when it has reached its server again.
    asio::awaitable<void> reconnect(int server, duration takes);

    /// Returns the text of the last failed call, as its client reported it.
    const std::string& last_words() const { return last_words_; }

    int servers() const { return static_cast<int>(nodes.size()); }
    int names() const { return names_; }
    static lock_name name_of(int number) { return world::name_of(number); }
    const sighting& seen(spot where) const { return sightings_.at(where); }
    std::string holder(spot) const; ///< now; empty if it is free
    /// Returns the terminal whose client has that identity; null for a foreign client.
    const terminal* home_of(const std::string& owner) const;

    /// Returns whether the server shows its grants, because nothing has happened to it.
    bool is_well(spot where) const { return clock.now() > until(where, &node::doubt_until); }
    /// Returns whether nothing has happened to any server that no quorum is promised to survive.
    bool quorum_promised(int name) const;

    void violated(const char* invariant, int name, std::string story);
    const std::optional<violation>& verdict() const { return verdict_; }
    audit& checks() { return *checks_; }

private:
    void after_step();
    void look_at_servers();
    void sent(terminal&, const memory::request&, const memory::fate&);
    void in_doubt(spot, bool beyond_promise, duration from_now = {});
    void all_in_doubt(int server, bool beyond_promise);
    time_point until(spot, std::map<int, time_point> node::*) const;

    struct delayed {
        std::size_t step;
        std::function<void()> act;
    };

    const int names_;
    const time_point start_ = clock.now();
    std::map<spot, sighting> sightings_;
    by_text<const terminal*> identities_;
    std::vector<delayed> delayed_;
    std::size_t steps_ = 0;
    std::string last_words_;
    std::optional<violation> verdict_;
    std::unique_ptr<audit> checks_;
};

} // namespace holdfast::sim::several
