// SPDX-License-Identifier: Apache-2.0
#include "sim/checkers/left_behind.hpp"

#include "sync/engine.hpp"

#include <algorithm>

namespace holdfast::sim {

left_behind::left_behind(world& w)
    : world_{w}
    , ghosts_(static_cast<std::size_t>(w.names())) {}

void left_behind::sent(const seat& from, const memory::request& r, const memory::fate& f) {
    // The request has set a lease time that the holder of the permit does not know.
    const counter_change* const changed = details_of(r).changed;
    if (changed && changed->verb == counter_verb::set_lease)
        records_[world_.lease_of(changed->permit)].copied = true;
    const bool matters = r.what == memory::verb::look || r.what == memory::verb::release;
    for (const hold& h : r.holds) {
        if (!matters)
            continue;
        const std::string& owner = world_.text_of(h.owner);
        record& known = records_[owner];
        known.settles_at =
            std::max(known.settles_at, world_.clock.now() + f.request_delay + f.answer_delay +
                                           world_.how.command_timeout);
        known.left = known.left || r.what == memory::verb::release;
        if (r.what == memory::verb::look) {
            if (!f.request_lost) { // a lost request has no effect at a new primary
                known.looked_at = world_.clock.now();
                known.first_looked_at = std::min(known.first_looked_at, known.looked_at);
                known.looked_to = static_cast<int>(r.to);
            }
            known.copied = known.copied || f.executed_again;
            newest_[{from.number, world::number_of(h.name.text)}] = owner;
        }
    }
}

void left_behind::closed(const seat& place) {
    if (closed_.insert(place.program->id()).second)
        engines_.push_back(place.program->engine());
}

bool left_behind::of_closed_program(const std::string& owner) const {
    return !closed_.empty() && closed_.contains(client_in(owner));
}

bool left_behind::wanted(int name, const std::string& owner) const {
    // A hold that lasts as long as the session does not expire, so the client must release it even
    // after its loss.
    if (world_.how.by_session() ? world_.books.believed_of(owner) : world_.books.claimed(owner))
        return true;
    const int client = world_.client_of(owner);
    if (client < 0)
        return true;
    // several waiters of one client may be in the queue at the same time
    if (world_.how.is_fair(name))
        return !records_.at(owner).left && somebody_waits(client, name);
    const auto newest = newest_.find({client, name});
    const bool is_newest = newest != newest_.end() && newest->second == owner;
    // several readers or permits can be granted at the same time
    const bool side_by_side = world_.shares || world_.how.counts(name);
    if (!is_newest && !side_by_side)
        return false;
    return somebody_waits(client, name);
}

bool left_behind::somebody_waits(int client, int name) const {
    const auto& calls = world_.books.under_way();
    return std::any_of(calls.begin(), calls.end(), [&](const auto& entry) {
        const operation& o = entry.second;
        return acquires(o.what) && o.who.client == client && o.who.name == name;
    });
}

void left_behind::look() {
    for (int name = 0; name < world_.names(); ++name) {
        watch(name, ghosts_[static_cast<std::size_t>(name)]);
        if (world_.how.is_fair(name))
            watch_places(name);
    }
}

/// Checks that a caller leaves the queue of a fair lock when it stops waiting. If it cannot, its
/// entry expires soon after it has become the first in the queue.
void left_behind::watch_places(int name) {
    for (const std::string& owner : world_.counting(name)) {
        if (wanted(name, owner) || of_closed_program(owner)) {
            if (!empty_places_.empty())
                empty_places_.erase(owner);
            continue;
        }
        const time_point since = empty_places_.emplace(owner, world_.clock.now()).first->second;
        const record& known = records_[owner];
        const time_point excused =
            std::max({since, known.settles_at, world_.replicas.last_trouble()});
        const bool is_dead = world_.clock.now() - known.looked_at > world_.how.waiter_timeout();
        if (!known.copied && !is_dead && !may_be_of_old_primary(known) &&
            world_.clock.now() - excused > settled_within(name, owner))
            fail(name, owner + " stands in the queue, and nobody waits");
    }
}

void left_behind::watch(int name, ghosts& seen) {
    const sighting& now = world_.seen(name);
    std::erase_if(seen, [&](const auto& each) {
        return !now.shows(each.first) || wanted(name, each.first) || of_closed_program(each.first);
    });
    for (const std::string& owner : now.owners)
        if (!wanted(name, owner) && !of_closed_program(owner))
            check(name, owner, seen.emplace(owner, world_.clock.now()).first->second);
}

void left_behind::check(int name, const std::string& owner, time_point since) {
    const record& known = records_[owner];
    const time_point excused = std::max({since, known.settles_at, world_.replicas.last_trouble()});
    if (!known.copied && !may_be_of_old_primary(known) &&
        world_.clock.now() - excused > settled_within(name, owner) + copied_expiry_excess(known))
        fail(name, owner + " holds the lock on the server, and nobody has it");
}

/// Returns whether the hold was granted by an old primary and not requested from the new one. The
/// new primary may not know of its release.
bool left_behind::may_be_of_old_primary(const record& known) const {
    return world_.replicas.may_show_ghosts() &&
           (known.looked_at < world_.replicas.last_promotion() ||
            known.looked_to != world_.replicas.primary());
}

/// Returns how much longer than its lease a hold may last after a failover. The new primary has
/// copied the time of expiry, which came from the clock of the old primary.
duration left_behind::copied_expiry_excess(const record& known) const {
    const bool was_copied = known.first_looked_at < world_.replicas.last_promotion();
    return was_copied ? world_.replicas.clocks_apart() : duration{};
}

/// Longest pause until a client retries after a denied permission, in ms.
constexpr duration pause_after_denial{5000};

/// Returns the time within which an unwanted hold must be gone: at least the longest pause between
/// two attempts to release it. If the server's clock was changed, it may grant requests that come
/// too late, and their holds end only with their leases.
duration left_behind::settled_within(int name, const std::string& owner) const {
    const auto client = static_cast<std::size_t>(world_.client_of(owner));
    const time_point denied = world_.seats[client].net.last_denial(name);
    const bool lately = world_.clock.now() - denied <= pause_after_denial + pause_after_denial;
    const duration longest_pause = lately ? pause_after_denial : duration{1000};
    const duration usual = longest_pause + world_.how.command_timeout + duration{50};
    const bool trusted = world_.stepped_back() == duration{} && !world_.clock_was_slow();
    const duration place_lasts =
        world_.how.is_fair(name) ? world_.how.waiter_timeout() : duration{};
    const duration longest = std::max(world_.how.lease_longest, place_lasts);
    return trusted ? usual : usual + world_.stepped_back() + 2 * longest;
}

void left_behind::at_peace() {
    if (held_count(world_.server) != 0)
        fail(-1, "locks are held on the server, and nobody has a lease");
    for (int name = 0; name < world_.names(); ++name)
        if (!world_.seen(name).permits.empty())
            fail(name, "permits are leased on the server, and nobody has a lease");
    check_rest("when all was released");
    for (const seat& place : world_.seats)
        check_engine(*place.program->engine(), "client" + std::to_string(place.number));
}

void left_behind::at_the_end() {
    check_rest("when all programs had ended");
    for (std::shared_ptr<sync::engine>& engine : engines_) {
        check_engine(*engine, "a client that was closed");
        const std::weak_ptr<sync::engine> remains = engine;
        engine.reset();
        if (!remains.expired())
            fail(-1, "something keeps a client that was closed and destroyed alive");
    }
}

void left_behind::check_rest(const char* when) {
    const auto still = [&](std::size_t count, const char* what) {
        if (count != 0)
            fail(-1, std::to_string(count) + what + when);
    };
    std::size_t listeners = 0;
    for (int machine = 0; machine < world_.replicas.machines(); ++machine)
        listeners += world_.replicas.listeners(machine);
    still(listeners, " listeners were left on the server ");
    still(world_.clock.sleepers(), " timers were left ");
    still(world_.books.under_way().size(), " operations were still under way ");
}

void left_behind::check_engine(const sync::engine& e, const std::string& of) {
    const sync::leftovers left = e.left();
    if (left.gates + left.waiters + left.holds + left.tasks != 0)
        fail(-1, of + " has left: gates " + std::to_string(left.gates) + ", waiters " +
                     std::to_string(left.waiters) + ", holds " + std::to_string(left.holds) +
                     ", tasks " + std::to_string(left.tasks));
}

void left_behind::fail(int name, std::string story) {
    world_.violated("nothing left behind", name, std::move(story));
}

} // namespace holdfast::sim
