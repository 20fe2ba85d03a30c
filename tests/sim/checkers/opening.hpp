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
        if (r.what != memory::verb::count || r.counted->kind != counter_kind::latch)
            return;
        looks& of = looks_[{from.number, world::number_of(r.name)}];
        if (of.seen && of.last != world_.clock.now())
            of = {world_.clock.now(), of.last, of.request, of.by_another_at};
        of.seen = false;
        if (of.request != r.counted->request.number)
            of.by_another_at = world_.clock.now();
        of.request = r.counted->request.number;
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
        time_point before{};        ///< at another time
        std::uint64_t request = 0;  ///< of the last check
        time_point by_another_at{}; ///< when a check with another number was sent
        bool seen = true;           ///< if false, the next request repeats the check because it was
                                    ///< late
    };

    static bool is_open(const std::optional<std::int64_t>& count) { return count.value_or(0) <= 0; }

    void note_open(int name) {
        if (world_.how.counts(name) == counter_kind::latch && is_open(world_.counter(name)))
            open_at_[static_cast<std::size_t>(name)] = world_.clock.now();
    }

    /// If nothing was slow, the last check that was sent before now is the one that saw the latch
    /// open. A call that checks for itself waits for its own answer. So this only applies to a call
    /// during which only one other call has checked.
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
    std::vector<time_point> open_at_;            ///< by name: last
    std::map<std::pair<int, int>, looks> looks_; ///< by client and name
    std::vector<operation> let_through_;         ///< at this moment
};

} // namespace holdfast::sim
