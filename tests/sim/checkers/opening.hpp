// SPDX-License-Identifier: Apache-2.0
// Checker: a waiter for a latch continues when the latch is open, and not before. When one waiter
// of a program continues, all waiters of that program that waited at the time of its check continue
// too.
#pragma once

#include "sim/world.hpp"
#include "store/memory/server_state.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

class opening {
public:
    explicit opening(world& w)
        : world_{w}
        , open_at_(static_cast<std::size_t>(w.names())) {}

    void sent(const seat& from, const memory::request& r) {
        if (r.what != memory::verb::count)
            return;
        const counter_ask& want = *details_of(r).counted;
        if (want.kind != counter_kind::latch)
            return;
        looks& of = looks_[{from.number, world::number_of(r.name)}];
        if (of.seen && of.last != world_.clock.now())
            of = {world_.clock.now(), of.last, of.request, of.by_another_at};
        of.seen = false;
        if (of.request != want.request.number)
            of.by_another_at = world_.clock.now();
        of.request = want.request.number;
    }

    void counted(int name, const memory::count_record& r) {
        if (is_open(r.before) || is_open(r.after))
            open_at_[static_cast<std::size_t>(name)] = world_.clock.now();
        if (r.taken)
            looks_[{world_.client_of(to_string(r.taken->request)), name}].seen = true;
    }

    void completed(const operation& o, outcome how) {
        if (o.what != deed::wait || how != outcome::done)
            return;
        note_open(o.who.name);
        if (open_at_[static_cast<std::size_t>(o.who.name)] < o.started_at)
            fail(o, "was let through, and it has not been open since");
        let_through_.push_back(o);
    }

    void look() {
        for (int name = 0; name < world_.names(); ++name)
            note_open(name);
        for (const operation& first : let_through_)
            for (const auto& [id, other] : world_.books.under_way())
                check_with(first, other);
        let_through_.clear();
    }

private:
    struct looks {
        time_point last{};
        time_point before{};        ///< latest earlier time at which a check was sent
        std::uint64_t request = 0;  ///< number of the last check
        time_point by_another_at{}; ///< time at which a check with another number was sent
        /// whether the check was in time; if false, the next request repeats it
        bool seen = true;
    };

    static bool is_open(const std::optional<std::int64_t>& count) { return count.value_or(0) <= 0; }

    void note_open(int name) {
        if (world_.how.counts(name) == counter_kind::latch && is_open(world_.counter(name)))
            open_at_[static_cast<std::size_t>(name)] = world_.clock.now();
    }

    /// Checks a call with the help of another call. If there was no delay, the latch was seen open
    /// by the last check that was sent before now. A call that checks by itself waits for its own
    /// reply. Therefore this applies only to a call during which exactly one other call has
    /// checked.
    void check_with(const operation& first, const operation& other) {
        const int client = first.who.client;
        const bool stood_beside = other.what == deed::wait && other.who.client == client &&
                                  other.who.name == first.who.name &&
                                  other.generation == first.generation;
        if (!stood_beside || !world_.seats[static_cast<std::size_t>(client)].net.flawless() ||
            !world_.server_is_faithful())
            return;
        const looks& of = looks_[{client, first.who.name}];
        if (of.by_another_at >= other.started_at)
            return;
        const time_point looked = of.last < world_.clock.now() ? of.last : of.before;
        if (other.started_at < looked)
            fail(other, "was not let through with another one of its program");
    }

    void fail(const operation& o, const std::string& what) {
        world_.violated("opening", o.who.name,
                        "client" + std::to_string(o.who.client) + "." +
                            std::to_string(o.who.actor) + " " + what);
    }

    world& world_;
    std::vector<time_point> open_at_;            ///< last time at which each latch was open
    std::map<std::pair<int, int>, looks> looks_; ///< checks by client and name
    /// operations that passed the latch at this moment
    std::vector<operation> let_through_;
};

} // namespace holdfast::sim
