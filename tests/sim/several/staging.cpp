// SPDX-License-Identifier: Apache-2.0
#include "sim/several/staging.hpp"

#include "sim/plans_by_kind.hpp"
#include "sim/several/player.hpp"
#include "sim/several/script.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <ostream>
#include <string>

namespace holdfast::sim::several {
namespace {

class life {
public:
    life(realm& r, const script& s)
        : realm_{r}
        , plan_{s}
        , safe_until_{r.clock.now() + s.safety_phase}
        , trouble_{r, s, safe_until_} {}

    void run() {
        for (const auto part :
             {&life::safety_phase, &life::liveness_phase, &life::peace, &life::end})
            if (!realm_.verdict())
                (this->*part)();
    }

private:
    void safety_phase() {
        for (int p = 0; p < plan_.programs; ++p) {
            const int program = realm_.add_program(plan_.usual);
            for (int a = 0; a < plan_.actors; ++a)
                cast_.emplace_back(realm_, program, a, plan_, safe_until_);
        }
        trouble_.begin();
        for (player& each : cast_)
            realm_.play(each.live());
        realm_.run_until(safe_until_);
    }

    void liveness_phase() {
        trouble_.heal();
        realm_.run_for(bound());
        check_all_done();
        if (realm_.verdict())
            return;
        for (player& each : cast_)
            realm_.play(each.take_each(bound()));
        realm_.run_for(bound());
        check_all_done();
    }

    void peace() {
        realm_.run_for(bound());
        if (!realm_.verdict())
            realm_.checks().at_peace();
    }

    void end() {
        for (std::deque<terminal>& program : realm_.programs)
            for (terminal& each : program)
                realm_.play(realm_.close(each));
        realm_.run_for(bound());
        for (std::deque<terminal>& program : realm_.programs)
            for (terminal& each : program)
                each.at.reset();
        realm_.run_for(bound());
        if (!realm_.verdict())
            realm_.checks().at_the_end();
    }

    void check_all_done() {
        for (const player& each : cast_)
            if (!each.done())
                realm_.violated("liveness", -1,
                                "all is well again, and not everybody comes to an end");
    }

    /// Returns the time within which each program must get its locks after the faults have ended.
    duration bound() const {
        const rules& r = realm_.how;
        duration stepped_back{};
        for (const node& each : realm_.nodes)
            stepped_back = std::max(stepped_back, each.stepped_back);
        return 4 * r.lease_longest + stepped_back + 4 * r.poll_bound + r.unavailable_timeout +
               6 * r.command_timeout + 2 * r.release_timeout + r.close_timeout +
               plan_.people.timeout + std::chrono::seconds{20};
    }

    realm& realm_;
    const script& plan_;
    const time_point safe_until_;
    trouble trouble_;
    std::deque<player> cast_;
};

void tell_of_several(std::ostream& out, const realm& r, const script& s, telling_of what) {
    const char* const option = s.ways.is_quorum ? "--quorum" : "--together";
    if (const auto& broken = r.verdict())
        out << "INVARIANT BROKEN: " << broken->invariant << "\n  " << broken->story << "\n  "
            << r.elapsed().count() << " ms after the beginning of seed " << s.seed
            << "\n  see it again: ./dev sim " << option << " --seeds 1 --from " << s.seed
            << " --trace\n";
    out << "seed " << s.seed << " (" << option << "): " << s;
    constexpr std::size_t lines_told_of_several = 150;
    if (what == telling_of::everything)
        r.log.print(out, -1);
    else
        r.log.print_end(out, -1, lines_told_of_several);
}

} // namespace

static result play_several(const script& s, std::ostream& out, telling_of what) {
    auto r = std::make_unique<realm>(s.seed, s.ways, s.servers, s.names);
    auto story = std::make_unique<life>(*r, s);
    try {
        story->run();
    } catch (const std::exception& e) {
        r->violated("nothing throws", -1, std::string{"an exception got out: "} + e.what());
    }
    const result end{s.seed, r->log.hash(), r->log.size(), r->log.kinds(), r->verdict()};
    const bool failed = end.broken.has_value();
    if (what == telling_of::everything || (what == telling_of::failures && failed))
        tell_of_several(out, *r, s, what);
    if (failed) { // leaked on purpose: the hanging operations cannot be destroyed
        (void)story.release();
        (void)r.release();
    }
    return end;
}

} // namespace holdfast::sim::several

namespace holdfast::sim {

result play(repertoire which, std::uint64_t seed, std::ostream& out, telling_of what) {
    if (which == repertoire::single)
        return play(seed, out, what);
    if (which == repertoire::replicas)
        return play(draw_replicated(seed), out, what);
    if (which == repertoire::sessions)
        return play(draw_by_session(seed), out, what);
    const several::script s = several::draw_script(seed, which == repertoire::quorum);
    return several::play_several(s, out, what);
}

} // namespace holdfast::sim
