// SPDX-License-Identifier: Apache-2.0
// All checkers of a simulation. Its functions are called at certain moments of the simulation, and
// call the checkers.
#pragma once

#include "sim/checkers/counters.hpp"
#include "sim/checkers/endings.hpp"
#include "sim/checkers/exclusion.hpp"
#include "sim/checkers/leases.hpp"
#include "sim/checkers/left_behind.hpp"
#include "sim/checkers/liveness.hpp"

namespace holdfast::sim {

class inspection {
public:
    explicit inspection(world& w)
        : counts_{!w.how.counters.empty()}
        , exclusion_{w}
        , afterlife_{w}
        , endings_{w}
        , left_behind_{w}
        , liveness_{w}
        , belief_{w}
        , loss_{w}
        , reports_{w}
        , length_{w}
        , kept_{w, length_}
        , tokens_{w}
        , order_{w}
        , sharing_{w}
        , conservation_{w}
        , capacity_{w}
        , opening_{w}
        , served_{w}
        , window_{w} {}

    void after_step() {
        exclusion_.look();
        order_.look();
    }

    /// Called when no task is ready, before the clock moves.
    void at_rest() {
        endings_.look();
        left_behind_.look();
        liveness_.look();
        belief_.look();
        loss_.look();
        length_.look();
        sharing_.look();
        if (counts_)
            look_at_counters();
    }

    void sent(const seat& from, const memory::request& r, const memory::fate& f) {
        afterlife_.sent(r);
        loss_.sent(r);
        length_.sent(r);
        left_behind_.sent(from, r, f);
        order_.sent(r, f);
        opening_.sent(from, r);
        conservation_.sent(r, f);
    }
    /// Called when the server has executed a request about a counter.
    void counted(int name, const memory::count_record& r) {
        conservation_.counted(name, r);
        capacity_.counted(name, r);
        opening_.counted(name, r);
        window_.counted(name, r);
    }
    void counters_forgotten() {
        conservation_.forgotten();
        window_.forgotten();
    }
    void counter_evicted(int name) {
        conservation_.evicted(name);
        window_.evicted(name);
    }
    void granted(const claim& c) {
        afterlife_.granted(c);
        length_.granted(c);
        tokens_.granted(c);
        sharing_.granted(c);
    }
    std::uint64_t greatest_token(int name) const { return tokens_.greatest(name); }
    void tokens_forgotten() { tokens_.forgotten(); }
    void shared(const claim& c) { afterlife_.shared(c); }
    void released(const claim& c) { afterlife_.released(c); }
    void completed(const operation& o, outcome how) {
        afterlife_.completed(o);
        endings_.completed(o, how);
        tokens_.completed(o);
        sharing_.ended(o);
        conservation_.completed(o, how);
        opening_.completed(o, how);
    }
    /// Called when a store tells its client that a hold is lost.
    void known_lost(int name, const std::string& owner) { loss_.known(name, owner); }
    void dropped(const operation& o) { endings_.dropped(o); }
    void heard(int client, int generation, const event& e) {
        reports_.heard(client, generation, e);
        kept_.heard(client, generation, e);
    }
    void closed(const seat& place) {
        left_behind_.closed(place);
        order_.closed(place);
        sharing_.closed();
    }

    /// Called when all locks were released some time ago.
    void at_peace() {
        left_behind_.at_peace();
        reports_.at_peace();
        conservation_.at_peace();
    }
    /// Called when all programs have ended.
    void at_the_end() { left_behind_.at_the_end(); }

private:
    void look_at_counters() {
        conservation_.look();
        capacity_.look();
        opening_.look();
        served_.look();
    }

    const bool counts_; ///< whether there are counters
    exclusion exclusion_;
    afterlife afterlife_;
    endings endings_;
    left_behind left_behind_;
    liveness liveness_;
    belief belief_;
    loss loss_;
    reports reports_;
    length length_;
    kept kept_;
    tokens tokens_;
    order order_;
    sharing sharing_;
    conservation conservation_;
    capacity capacity_;
    opening opening_;
    served served_;
    window window_;
};

} // namespace holdfast::sim
