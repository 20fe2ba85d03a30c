// SPDX-License-Identifier: Apache-2.0
#include "sim/checkers/several.hpp"

#include "sync/engine.hpp"

namespace holdfast::sim::several {

void remains::sent(const memory::request& r, const memory::fate& f) {
    const bool matters = r.what == memory::verb::look || r.what == memory::verb::release;
    for (const hold& h : r.holds) {
        if (!matters)
            continue;
        record& known = records_[to_string(h.owner)];
        known.settles_at =
            std::max(known.settles_at, realm_.clock.now() + f.request_delay + f.answer_delay +
                                           realm_.how.command_timeout);
        known.copied = known.copied || (f.executed_again && r.what == memory::verb::look);
    }
}

void remains::closed(const terminal& t) {
    if (closed_.insert(t.at->id()).second)
        engines_.push_back(t.at->engine());
    // A lease of several locks ends when the client of the first lock is closed. Its locks then
    // stay on their servers until they expire.
    for (const claim* const c : realm_.books.claims())
        if (c->program == t.program && c->of.front().server == t.server)
            for (const share_of_claim& each : c->shares())
                abandoned_.insert(each.owner);
}

bool remains::is_of_closed(const std::string& owner) const {
    return !closed_.empty() && closed_.contains(client_in(owner));
}

namespace {

bool believed(const std::vector<belief>& beliefs, spot where, const std::string& owner) {
    return std::ranges::any_of(beliefs, [&](const belief& one) {
        return std::ranges::any_of(one.shares, [&](const share_of_claim& each) {
            return each.where == where && each.owner == owner;
        });
    });
}

} // namespace

void remains::look(const std::vector<belief>& beliefs) {
    std::erase_if(unwanted_, [&](const auto& entry) {
        const auto& [where, owner] = entry.first;
        return !realm_.seen(where).shows(owner) || believed(beliefs, where, owner);
    });
    for (int server = 0; server < realm_.servers(); ++server)
        for (int name = 0; name < realm_.names(); ++name)
            watch({server, name}, beliefs);
}

void remains::watch(spot where, const std::vector<belief>& beliefs) {
    for (const std::string& owner : realm_.seen(where).owners) {
        const terminal* const home = realm_.home_of(owner);
        const bool ends_by_itself = is_of_closed(owner) || abandoned_.contains(owner);
        if (!home || ends_by_itself || believed(beliefs, where, owner))
            continue;
        const time_point now = realm_.clock.now();
        const time_point since = unwanted_.emplace(std::pair{where, owner}, now).first->second;
        const record& known = records_[owner];
        if (!known.copied && now - std::max(since, known.settles_at) > settled_within(where, *home))
            fail(where.name, owner + " holds the lock on server " + std::to_string(where.server) +
                                 ", and nobody has it");
    }
}

/// Returns the time within which an unwanted hold must be gone: the time of a failed round, and the
/// longest pause between two attempts to release it.
duration remains::settled_within(spot where, const terminal& home) const {
    const node& at = realm_.node_at(where.server);
    const duration usual = realm_.how.lease_longest / 10 + duration{1050} +
                           realm_.how.command_timeout + 4 * home.net.latency();
    const bool trusted = at.stepped_back == duration{};
    return trusted ? usual : usual + at.stepped_back + 2 * realm_.how.lease_longest;
}

void remains::at_peace() {
    for (const node& each : realm_.nodes)
        if (held_count(each.server) != 0)
            fail(-1, "locks are held on a server, and nobody has a lease");
    check_rest("when all was released");
    for (const std::deque<terminal>& program : realm_.programs)
        for (const terminal& each : program)
            check_engine(*each.at->engine(), "program " + std::to_string(each.program) +
                                                 "'s client of server " +
                                                 std::to_string(each.server));
}

void remains::at_the_end() {
    check_rest("when all programs had ended");
    for (std::shared_ptr<sync::engine>& engine : engines_) {
        check_engine(*engine, "a client that was closed");
        const std::weak_ptr<sync::engine> left = engine;
        engine.reset();
        if (!left.expired())
            fail(-1, "something keeps a client that was closed and destroyed alive");
    }
}

void remains::check_rest(const char* when) {
    const auto still = [&](std::size_t count, const char* what) {
        if (count != 0)
            fail(-1, std::to_string(count) + what + when);
    };
    for (const node& each : realm_.nodes)
        still(listener_count(each.server), " listeners were left on a server ");
    still(realm_.clock.sleepers(), " timers were left ");
    still(realm_.books.under_way().size(), " operations were still under way ");
}

void remains::check_engine(const sync::engine& e, const std::string& of) {
    const sync::leftovers left = e.left();
    if (left.gates + left.waiters + left.holds + left.tasks != 0)
        fail(-1, of + " has left: gates " + std::to_string(left.gates) + ", waiters " +
                     std::to_string(left.waiters) + ", holds " + std::to_string(left.holds) +
                     ", tasks " + std::to_string(left.tasks));
}

void remains::fail(int name, std::string story) {
    realm_.violated("nothing remains", name, std::move(story));
}

} // namespace holdfast::sim::several
