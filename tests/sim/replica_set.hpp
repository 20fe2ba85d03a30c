// SPDX-License-Identifier: Apache-2.0
// The machines of a world's server, where it has replicas: what befalls them, and what may be
// promised after that.
//
// Whatever all replicas must confirm survives each failover, if their clocks agree: that is always
// promised. Anything else may be lost, and then two may believe: for as long as somebody may still
// be at an old primary, and a lease.
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

/// Of one announcement, what the links of a seat make of it.
struct heard_news {
    time_point told_at{};
    std::optional<time_point> at{}; ///< by then all have heard of it; nothing: some will not
    int machine = 0;
};

/// What a world has of them.
struct replication {
    int count = 0;                              ///< beside the first primary; 0: it has none
    std::vector<std::vector<unsigned>> wants{}; ///< of each name: how many its locks may require
    duration lag{};                             ///< of each way, at most
    std::vector<duration> clocks{};             ///< of each machine: so far ahead
    bool clocks_agree = true;                   ///< within the margin of the shortest lease
    bool is_told = true;                        ///< what befalls them is heard of soon, as a rule
};

class replica_set {
public:
    replica_set(world&, std::uint64_t seed);

    bool exists() const { return how_.count > 0; }
    int machines() const { return how_.count + 1; }
    int primary() const;
    /// It is not the primary, and does not know.
    bool is_old_primary(int machine) const;
    bool stands_still(int machine) const;
    std::size_t listeners(int machine) const;
    /// So much of what the primary wrote; nothing: a replica that is to be sent all again.
    std::optional<std::uint64_t> received(int machine) const;
    bool is_empty(int machine) const { return empty_[index(machine)] && !received(machine); }

    // What befalls them.
    void promote(int machine);
    void announce(int machine);
    void demote(int machine);
    void stop(int machine);
    void resume(int machine);
    void cut(int machine);
    void slow_down(int machine, duration lag);
    void restart_empty(int machine);
    void heal(); ///< no trouble is left, soon

    /// While somebody cannot do what he could on other days.
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

    /// When a client hears of the primary that was announced just now.
    std::optional<duration> news_for(seat&);
    void all_hear_at_once() { all_hear_ = true; }
    std::function<std::optional<duration>(const seat&)> news_of; ///< of a scenario; empty: chance

    /// Whether what somebody believes may be lost, or may have been, which not all confirmed.
    bool in_doubt();
    bool survives(const claim&) const; ///< all had to confirm it
    /// What was released may still be seen: nobody told the new primary.
    bool may_show_ghosts() const;
    bool is_there(const seat&) const; ///< it asks the primary
    duration clocks_apart() const;
    /// Since then the primary has not stood still. Now, while it does.
    time_point primary_stood_still() const;
    bool all_survive(int name) const; ///< whatever anybody believes of that name
    int promotions() const { return promotions_; }
    time_point last_promotion() const { return promoted_at_; }
    /// Somebody was not where the primary is, or a replica was not well. Now, while that lasts.
    time_point last_trouble() const;
    /// The longest that an answer waits for replicas.
    duration longest_confirmation() const;

    /// It asked there.
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
    std::vector<bool> empty_;      ///< it was restarted so
    time_point promoted_at_{};
    time_point primary_stood_{};
    bool healed_ = false;
    time_point doubt_until_{};
    time_point trouble_at_{};
};

} // namespace holdfast::sim
