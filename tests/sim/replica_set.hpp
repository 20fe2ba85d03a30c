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

/// Times at which the connections of a seat hear of an announcement.
struct heard_news {
    time_point told_at{};
    /// time at which all have heard of it; empty if some never will
    std::optional<time_point> at{};
    int machine = 0;
};

/// Settings of the replicas in a world.
struct replication {
    /// number of machines besides the first primary; 0: no replicas
    int count = 0;
    /// for each name: numbers of replicas that its locks may require
    std::vector<std::vector<unsigned>> wants{};
    duration lag{};                 ///< maximum replication lag, for each direction
    std::vector<duration> clocks{}; ///< how much the clock of each machine is ahead
    /// whether the clocks differ less than the margin of the shortest lease
    bool clocks_agree = true;
    bool is_told = true; ///< whether clients usually hear of a failover soon
};

class replica_set {
public:
    replica_set(world&, std::uint64_t seed);

    bool exists() const { return how_.count > 0; }
    int machines() const { return how_.count + 1; }
    int primary() const;
    /// Returns whether the machine is an old primary that does not know of its replacement.
    bool is_old_primary(int machine) const;
    bool stands_still(int machine) const;
    std::size_t listeners(int machine) const;
    /// Returns the number of the last write of the primary that the machine has received. Empty: a
    /// replica that needs a full copy.
    std::optional<std::uint64_t> received(int machine) const;
    bool is_empty(int machine) const { return empty_[index(machine)] && !received(machine); }

    // Functions that make faults of the machines.
    void promote(int machine);
    void announce(int machine);
    void demote(int machine);
    void stop(int machine);
    void resume(int machine);
    void cut(int machine);
    void slow_down(int machine, duration lag);
    void restart_empty(int machine);
    void heal(); ///< ends all faults; they have no effect soon after

    /// Guard for the time in which a client or a machine is in trouble.
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

    /// Returns the delay until a client hears of the primary that was just announced.
    std::optional<duration> news_for(seat&);
    void all_hear_at_once() { all_hear_ = true; }
    /// a scenario may set this delay; if empty, the dice choose
    std::function<std::optional<duration>(const seat&)> news_of;

    /// Returns whether a hold may be lost now or was lost earlier although a client believes in it.
    /// This is only about holds that not all replicas confirmed.
    bool in_doubt();
    bool survives(const claim&) const; ///< whether all replicas had to confirm the claim
    /// Returns whether the server may still show a released lock. The new primary may not have
    /// received the release.
    bool may_show_ghosts() const;
    bool is_there(const seat&) const; ///< whether the seat uses the primary
    duration clocks_apart() const;
    /// Returns the time since which the primary runs without a stop. Returns now if the primary is
    /// stopped.
    time_point primary_stood_still() const;
    bool all_survive(int name) const; ///< whether every hold of this name survives
    int promotions() const { return promotions_; }
    time_point last_promotion() const { return promoted_at_; }
    /// Returns the last time at which a client did not use the primary or a replica had a fault.
    /// Returns now while such trouble lasts.
    time_point last_trouble() const;
    /// Returns the longest time for which a reply waits for replicas.
    duration longest_confirmation() const;

    /// Called when the seat has sent a request to this machine.
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
    bool came_back_empty_ = false; ///< whether a primary restarted without data
    std::vector<bool> empty_;      ///< machines that restarted without data
    time_point promoted_at_{};
    time_point primary_stood_{};
    bool healed_ = false;
    time_point doubt_until_{};
    time_point trouble_at_{};
};

} // namespace holdfast::sim
