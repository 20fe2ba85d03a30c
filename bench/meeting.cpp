// SPDX-License-Identifier: Apache-2.0
#include "bench/meeting.hpp"

#include "bench/conditions.hpp"
#include "bench/failover/hold_failover.hpp"
#include "bench/progress.hpp"
#include "bench/renewal/beside_one_server.hpp"
#include "bench/renewal/hold_vigil.hpp"
#include "bench/rivalry/compare_budgets.hpp"
#include "bench/standstill/hold_standstill.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace holdfast::bench {
namespace {

/// Number of rounds of a failover. Each round takes half a minute, because Redisson's waiters wait
/// so long.
constexpr int rounds_for_a_failover = 13;

std::string counted(const char* what, int which, int of) {
    return std::string{what} + " " + std::to_string(which) + " of " + std::to_string(of);
}

} // namespace

meeting::meeting(const wishes& how, const server& home)
    : how_{how}
    , home_{home}
    , books_{home.connect(transport::unix_socket)}
    , java_{home}
    , watching_{[this] {
        return own_cpu_seconds() + ended_children_cpu_seconds() + books_.cpu_seconds() +
               more_.cpu_seconds() + groups_.cpu_seconds() + java_.cpu_seconds();
    }}
    , record_{how} {
    record_.begin(conditions(books_, how_));
}

void meeting::hold(const std::string& name, const char* first,
                   const std::function<void()>& all_of_it) try {
    show_progress(name, first);
    all_of_it();
} catch (const not_here& missing) {
    skip(name, missing);
} catch (const std::exception& trouble) {
    throw std::runtime_error{name + ": " + trouble.what()};
}

void meeting::keep(const std::vector<figure>& all) {
    erase_progress();
    record_.figures_of(all);
}

void meeting::skip(const std::string& name, const not_here& missing) {
    erase_progress();
    record_.skipped(name, missing.what());
}

void meeting::hold(const contest& which) {
    hold(which.name, "warming up", [&] {
        arena where = arena_for(which.way, which.query, which.at_once);
        if (which.group)
            where.group = which.group(groups_);
        const std::unique_ptr<ledger> books = ledger_of(where);
        const made ours = which.ours(where);
        const made yardstick = which.yardstick(where);
        const outcome seen = duel(*ours, *yardstick, *books, course_of(which.name, which.slowness));
        keep(figures(which.name, *which.what, which.wanted, seen.rounds));
        record_.distribution_of(which.name, seen);
    });
}

void meeting::hold(const rivalry& which) {
    hold(which.name, "warming up", [&] {
        const arena where = arena_for(transport::tcp_loopback, {}, which.threads);
        keep(compare_budgets(which, where, books_, course_of(which.name, 10)));
    });
}

void meeting::hold(const failover& which) {
    hold(which.name, "getting ready", [&] {
        const int rounds = std::max(how_.rounds / rounds_for_a_failover, 1);
        const auto where = which.where(groups_);
        std::unique_ptr<applicants> theirs;
        try {
            theirs = redissons_applicants(java_);
        } catch (const not_here& missing) {
            skip(which.name + ".redisson", missing);
        }
        keep(hold_failover(which, *where, theirs.get(), rounds, [&](int round) {
            show_progress(which.name, counted("failover", round, rounds));
        }));
    });
}

void meeting::hold(const vigil& which) {
    hold(which.name, "getting ready", [&] {
        const arena where = arena_for({}, {}, which.leases);
        keep(hold_vigil(which, where, books_,
                        [&](const char* doing) { show_progress(which.name, doing); }));
    });
}

void meeting::hold(const shared_vigil& which) {
    hold(which.name, "keeping leases for half a minute", [&] {
        const arena of_one = arena_for(transport::tcp_loopback, {}, which.leases);
        arena of_several = of_one;
        of_several.group = which.group(groups_);
        keep(keep_beside_one_server(which, of_several, of_one));
    });
}

void meeting::hold(const standstill& which) {
    hold(which.name, "getting ready", [&] {
        const int rounds = std::max(how_.rounds / rounds_for_a_failover, 1);
        keep(hold_standstill(which, rounds, [&](int round) {
            show_progress(which.name, counted("round", round, rounds));
        }));
    });
}

void meeting::close() {
    char others[40];
    std::snprintf(others, sizeof others, "%.0f %% of the machine", watching_.others_share());
    record_.end(
        {{"others", others}, {"redisson", java_.version()}, {"stores", groups_.versions()}});
    watching_.warn_if_crowded();
}

arena meeting::arena_for(std::optional<transport> way, const std::string& query, int at_once) {
    return {.home = home_,
            .way = way.value_or(how_.way),
            .query = query,
            .at_once = at_once,
            .java = java_,
            .more = more_};
}

/// Returns the turn length and the number of rounds. Turns are longer by the factor `slowness`. The
/// number of rounds is smaller by that factor, but at least four.
course meeting::course_of(const std::string& name, int slowness) const {
    const double seconds = how_.seconds * slowness;
    const int rounds = std::max(how_.rounds / slowness, std::min(how_.rounds, 4));
    return {.turn_length = nanoseconds{static_cast<long long>(seconds * 1e9)},
            .rounds = rounds,
            .progress = [name, rounds](int round) {
                show_progress(name, counted("round", round, rounds));
            }};
}

} // namespace holdfast::bench
