// SPDX-License-Identifier: Apache-2.0
// The machines of a simulated server with replicas: their faults, and what holdfast promises after
// them.
//
// A lock that all replicas must confirm survives each failover if the clocks of the machines agree.
// Any other lock may be lost, so that two clients believe that they hold it, until no client uses
// the old primary and one lease has passed.
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

/// When a client learns which machine is the new primary.
struct heard_news {
    time_point told_at{};
    /// time at which all its connections know; empty if some never will
    std::optional<time_point> at{};
    int machine = 0;
};

/// Settings of the replicas in a simulation.
struct replication {
    /// number of replicas; 0: the server has none
    int count = 0;
    /// for each name, the numbers of replicas that its lock objects may require
    std::vector<std::vector<unsigned>> wants{};
    duration lag{};                 ///< maximum replication lag, in each direction
    std::vector<duration> clocks{}; ///< by how much the clock of each machine is ahead
    /// whether the clocks differ less than the margin of the shortest lease
    bool clocks_agree = true;
    bool is_told = true; ///< whether clients usually learn of a failover soon
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
    /// Returns the number of the last write of the primary that the machine has received. Returns
    /// nothing for a replica that needs a full copy.
    std::optional<std::uint64_t> received(int machine) const;
    bool is_empty(int machine) const { return empty_[index(machine)] && !received(machine); }

    // Functions that cause faults.
    void promote(int machine);
    void announce(int machine);
    void demote(int machine);
    void stop(int machine);
    void resume(int machine);
    void cut(int machine);
    void slow_down(int machine, duration lag);
    void restart_empty(int machine);
    void heal(); ///< ends all faults; their effects end soon after

    /// Guard object that marks the time of a fault of a client or machine.
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

    /// Returns the delay until a client learns of the primary that was just announced. Empty: it
    /// never does.
    std::optional<duration> news_for(seat&);
    void all_hear_at_once() { all_hear_ = true; }
    /// set by a scenario to choose this delay; if empty, the delay is random
    std::function<std::optional<duration>(const seat&)> news_of;

    /// Returns whether a client may believe in a hold that a failover has lost, because not all
    /// replicas had confirmed it.
    bool in_doubt();
    bool survives(const claim&) const; ///< returns whether all replicas had to confirm the lease
    /// Returns whether the server may show a lock that was released: a new primary may not have
    /// received the release.
    bool may_show_ghosts() const;
    bool is_there(const seat&) const; ///< returns whether the client uses the current primary
    duration clocks_apart() const;
    /// Returns the last time at which the primary was stopped: now, if it still is.
    time_point primary_stood_still() const;
    bool all_survive(int name) const; ///< returns whether every hold of this name survives a
                                      ///< failover
    int promotions() const { return promotions_; }
    time_point last_promotion() const { return promoted_at_; }
    /// Returns the last time at which a client did not use the primary, or a replica had a fault:
    /// now, if this still lasts.
    time_point last_trouble() const;
    /// Returns the longest time for which a reply waits for replicas.
    duration longest_confirmation() const;

    /// Called when a client has sent a request to this machine.
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
    bool came_back_empty_ = false; ///< whether a primary was restarted without data
    std::vector<bool> empty_;      ///< which machines were restarted without data
    time_point promoted_at_{};
    time_point primary_stood_{};
    bool healed_ = false;
    time_point doubt_until_{};
    time_point trouble_at_{};
};

} // namespace holdfast::sim
