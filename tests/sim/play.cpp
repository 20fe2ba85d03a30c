// SPDX-License-Identifier: Apache-2.0
#include "sim/play.hpp"

#include "sim/actor.hpp"
#include "sim/fortune.hpp"
#include "sim/inspection.hpp"
#include "sim/plan.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <ostream>
#include <string>

namespace holdfast::sim {
namespace {

class life {
public:
    life(world& w, const plan& p)
        : world_{w}
        , plan_{p}
        , safe_until_{w.clock.now() + p.safety_phase}
        , fortune_{w, p, safe_until_}
        , succession_{w, p, safe_until_} {
        w.shares = p.shared;
    }

    void run() {
        safety_phase();
        if (!world_.verdict())
            liveness_phase();
        if (!world_.verdict())
            peace();
        if (!world_.verdict())
            end();
    }

private:
    void safety_phase() {
        for (int c = 0; c < plan_.clients; ++c) {
            seat& home = world_.add_seat(plan_.usual);
            for (int a = 0; a < plan_.actors; ++a)
                cast_.emplace_back(world_, home, a, plan_, safe_until_);
        }
        fortune_.begin();
        succession_.begin();
        for (actor& a : cast_)
            world_.play(a.live());
        world_.run_until(safe_until_);
    }

    void liveness_phase() {
        fortune_.heal();
        succession_.heal();
        world_.run_for(bound());
        fortune_.rest();
        check_all_done();
        if (world_.verdict())
            return;
        for (const seat& home : world_.seats)
            world_.play(take_turns(home.number));
        world_.run_for(bound());
        check_all_done();
    }

    /// Makes all callers of a client take each lock once: at the same time if the client allows so
    /// many waiters, else one after the other.
    asio::awaitable<void> take_turns(int client) {
        for (actor& a : cast_) {
            if (a.client() != client)
                continue;
            if (plan_.how.waiters_max < cast_.size())
                co_await a.take_each(bound());
            else
                world_.play(a.take_each(bound()));
        }
    }

    void peace() {
        world_.run_for(bound());
        if (!world_.all_came_out())
            world_.violated("nothing throws", -1,
                            "what a handler threw was swallowed, or repeated");
        if (!world_.verdict())
            world_.checks().at_peace();
    }

    void end() {
        for (seat& place : world_.seats)
            world_.play(close_program(world_, place));
        world_.run_for(bound());
        for (seat& place : world_.seats)
            place.program.reset();
        world_.run_for(bound());
        if (!world_.verdict())
            world_.checks().at_the_end();
    }

    void check_all_done() {
        for (const actor& a : cast_)
            if (!a.done())
                world_.violated("liveness", -1,
                                "all is well again, and not everybody comes to "
                                "an end");
    }

    /// Returns the time within which each caller must get its locks after the faults have ended.
    /// Until then, leases of dead clients have expired, even if the server's clock was set back.
    duration bound() const {
        const rules& r = plan_.how;
        return 3 * (r.lease_longest + r.session_time) + world_.stepped_back() + 3 * r.poll_bound +
               r.unavailable_timeout + 4 * r.command_timeout + r.release_timeout + r.close_timeout +
               plan_.people.timeout + std::chrono::seconds{10} + world_.replicas.clocks_apart() +
               (r.fair > 0 ? r.waiter_timeout() + 3 * r.stranger_waits() : duration{});
    }

    world& world_;
    const plan& plan_;
    const time_point safe_until_;
    fortune fortune_;
    succession succession_;
    std::deque<actor> cast_;
};

constexpr std::size_t lines_told = 150;

void tell(std::ostream& out, const world& w, const plan& p, telling_of what) {
    if (const auto& broken = w.verdict()) {
        out << "INVARIANT BROKEN: " << broken->invariant << "\n  " << broken->story << "\n  "
            << w.elapsed().count() << " ms after the beginning of seed " << p.seed
            << "\n  see it again: ./dev sim "
            << (w.replicas.exists()  ? "--replicas "
                : w.how.by_session() ? "--sessions "
                                     : "")
            << "--seeds 1 --from " << p.seed << " --trace\n";
    }
    out << "seed " << p.seed << ": " << p;
    if (what == telling_of::everything)
        w.log.print(out, -1);
    else
        w.log.print_end(out, w.verdict() ? w.verdict()->name : -1, lines_told);
}

} // namespace

result play(std::uint64_t seed, std::ostream& out, telling_of what) {
    return play(draw_plan(seed), out, what);
}

result play(const plan& p, std::ostream& out, telling_of what) {
    auto w = std::make_unique<world>(p.seed, p.how, p.names);
    auto s = std::make_unique<life>(*w, p);
    try {
        s->run();
    } catch (const std::exception& e) {
        w->violated("nothing throws", -1, std::string{"an exception got out: "} + e.what());
    }
    const result r{p.seed, w->log.hash(), w->log.size(), w->log.kinds(), w->verdict()};
    const bool failed = r.broken.has_value();
    if (what == telling_of::everything || (what == telling_of::failures && failed))
        tell(out, *w, p, what);
    if (failed) { // leaked on purpose: the hanging operations cannot be destroyed
        (void)s.release();
        (void)w.release();
    }
    return r;
}

} // namespace holdfast::sim
