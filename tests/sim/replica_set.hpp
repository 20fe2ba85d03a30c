// SPDX-License-Identifier: Apache-2.0
// Machines of a world's server with replicas: their faults, and what may be promised afterwards.
//
// A lock that all replicas must confirm survives each failover, if the clocks of the machines
// agree. This is always promised. Any other lock may be lost, and then two clients may believe in
// it. This lasts as long as a client may use an old primary, plus one lease.
#pragma once

#include "sim/dice.hpp"
#include "sim/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace holdfast::sim {

class world;
struct seat;

/// When the connections of a seat hear of one announcement.
struct heard_news {
    time_point told_at{};
    std::optional<time_point> at{}; ///< when all have heard of it; empty if some never will
    int machine = 0;
};

/// Settings of a world's replicas.
struct replication {
    int count = 0;                              ///< besides the first primary; 0 for none
    std::vector<std::vector<unsigned>> wants{}; ///< for each name, the numbers of replicas that its
                                                ///< locks may require
    duration lag{};                             ///< maximum time in each direction
    std::vector<duration> clocks{};             ///< how far the clock of each machine is ahead
    bool clocks_agree = true;                   ///< within the margin of the shortest lease
    bool is_told = true;                        ///< clients usually hear soon of a failover
};

class replica_set {
public:
    replica_set(world&, std::uint64_t seed);

    bool exists() const { return how_.count > 0; }
    int machines() const { return how_.count + 1; }
    int primary() const;
    /// Returns whether the machine was the primary and does not know that it is replaced.
    bool is_old_primary(int machine) const;
    bool stands_still(int machine) const;
    std::size_t listeners(int machine) const;
    /// Returns how much of the primary's writes it has received; empty for a replica that needs a
    /// full copy.
    std::optional<std::uint64_t> received(int machine) const;
    bool is_empty(int machine) const { return empty_[index(machine)] && !received(machine); }

    // Faults of the machines.
    void promote(int machine);
    void announce(int machine);
    void demote(int machine);
    void stop(int machine);
    void resume(int machine);
    void cut(int machine);
    void slow_down(int machine, duration lag);
    void restart_empty(int machine);
    void heal(); ///< ends all faults, soon

    /// Marks the time during which a client or a machine does not work as usual.
    class trouble {
    public:
        explicit trouble(replica_set& of)
            : of_{of} {
            ++of_.troubles_;
        }
        trouble(const trouble&) = delete;
        ~trouble() { of_.trouble_ends(); }

    private:
        replica_set& of_;
    };

    /// Returns when a client hears of the primary that was announced just now.
    std::optional<duration> news_for(seat&);
    void all_hear_at_once() { all_hear_ = true; }
    std::function<std::optional<duration>(const seat&)> news_of; ///< set by a scenario; if empty,
                                                                 ///< chance decides

    /// Returns whether a belief may be lost now, or may have been lost, if not all replicas
    /// confirmed it.
    bool in_doubt();
    bool survives(const claim&) const; ///< all replicas had to confirm it
    /// Returns whether a released lock may still be seen, because the new primary was not told.
    bool may_show_ghosts() const;
    bool is_there(const seat&) const; ///< whether it uses the primary
    duration clocks_apart() const;
    /// Returns the time since which the primary has not been stopped; now, while it is stopped.
    time_point primary_stood_still() const;
    bool all_survive(int name) const; ///< every hold of that name survives
    int promotions() const { return promotions_; }
    time_point last_promotion() const { return promoted_at_; }
    /// Returns the last time when a client did not use the primary, or a replica was not well; now,
    /// while that lasts.
    time_point last_trouble() const;
    /// Returns the longest time that a reply waits for replicas.
    duration longest_confirmation() const;

    /// Called when the seat has sent a request to that machine.
    void check_sent(const seat&, std::size_t machine);

private:
    void trouble_ends();
    std::optional<duration> draw_news();
    void note_news(seat&, std::optional<duration> after) const;
    static std::size_t index(int machine) { return static_cast<std::size_t>(machine); }

    world& world_;
    const replication& how_;
    dice dice_;
    int announced_ = 0;
    int promotions_ = 0;
    int troubles_ = 0;
    bool all_hear_ = false;
    bool came_back_empty_ = false; ///< as a primary
    std::vector<bool> empty_;      ///< it was restarted without data
    time_point promoted_at_{};
    time_point primary_stood_{};
    bool healed_ = false;
    time_point doubt_until_{};
    time_point trouble_at_{};
};

} // namespace holdfast::sim
