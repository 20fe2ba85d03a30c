// SPDX-License-Identifier: Apache-2.0
// holdfast_bench: how far the library is from what the server and the kernel allow, and how far
// ahead of Redisson. README.md beside this file says how to read what it prints.
#include "bench/conditions.hpp"
#include "bench/contenders/neighbour.hpp"
#include "bench/contenders/redisson.hpp"
#include "bench/contests.hpp"
#include "bench/duel.hpp"
#include "bench/failover/hold_failover.hpp"
#include "bench/progress.hpp"
#include "bench/record.hpp"
#include "bench/renewal/beside_one_server.hpp"
#include "bench/renewal/hold_vigil.hpp"
#include "bench/rivalry/compare_budgets.hpp"
#include "bench/server/onlooker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace holdfast::bench {
namespace {

/// What all contests of a run share.
class meeting {
public:
    meeting(const wishes& how, const server& home)
        : how_{how}
        , home_{home}
        , record_{how} {
        record_.begin(conditions(books_, how_));
    }

    void hold(const contest& which) try {
        show_progress(which.name, "warming up");
        arena where = arena_for(which.way, which.query, which.at_once);
        if (which.group)
            where.group = which.group(groups_);
        accounts books = books_of(where);
        const made ours = which.ours(where);
        const made yardstick = which.yardstick(where);
        const outcome seen = duel(*ours, *yardstick, books, course_of(which.name, which.slowness));
        erase_progress();
        record_.figures_of(figures(which.name, *which.what, which.wanted, seen.rounds));
        record_.distribution_of(which.name, seen);
    } catch (const not_here& missing) {
        erase_progress();
        record_.skipped(which.name, missing.what());
    } catch (const std::exception& trouble) {
        throw std::runtime_error{which.name + ": " + trouble.what()};
    }

    void hold(const rivalry& which) try {
        show_progress(which.name, "warming up");
        const arena where = arena_for(transport::tcp_loopback, {}, which.threads);
        const auto seen = compare_budgets(which, where, books_, course_of(which.name, 10));
        erase_progress();
        record_.figures_of(seen);
    } catch (const not_here& missing) {
        erase_progress();
        record_.skipped(which.name, missing.what());
    } catch (const std::exception& trouble) {
        throw std::runtime_error{which.name + ": " + trouble.what()};
    }

    /// Beside Redisson, where it is there.
    void hold(const failover& which) try {
        show_progress(which.name, "getting ready");
        const int rounds = std::max(how_.rounds / rounds_for_a_failover, 1);
        const auto where = which.where(groups_);
        std::unique_ptr<applicants> theirs;
        try {
            theirs = redissons_applicants(java_);
        } catch (const not_here& missing) {
            erase_progress();
            record_.skipped(which.name + ".redisson", missing.what());
        }
        const auto seen = hold_failover(which, *where, theirs.get(), rounds, [&](int round) {
            show_progress(which.name,
                          "failover " + std::to_string(round) + " of " + std::to_string(rounds));
        });
        erase_progress();
        record_.figures_of(seen);
    } catch (const std::exception& trouble) {
        throw std::runtime_error{which.name + ": " + trouble.what()};
    }

    void hold(const vigil& which) {
        const arena where = arena_for({}, {}, which.leases);
        const auto seen = hold_vigil(which, where, books_,
                                     [&](const char* doing) { show_progress(which.name, doing); });
        erase_progress();
        record_.figures_of(seen);
    }

    void hold(const shared_vigil& which) {
        show_progress(which.name, "keeping leases for half a minute");
        const arena of_one = arena_for(transport::tcp_loopback, {}, which.leases);
        arena of_several = of_one;
        of_several.group = which.group(groups_);
        const auto seen = keep_beside_one_server(which, of_several, of_one);
        erase_progress();
        record_.figures_of(seen);
    }

    void close() {
        char others[40];
        std::snprintf(others, sizeof others, "%.0f %% of the machine", watching_.others_share());
        record_.end({{"others", others}, {"redisson", java_.version()}});
        watching_.warn_if_crowded();
    }

private:
    arena arena_for(std::optional<transport> way, const std::string& query, int at_once) {
        return {.home = home_,
                .way = way.value_or(how_.way),
                .query = query,
                .at_once = at_once,
                .java = java_,
                .more = more_};
    }

    /// Turns that many times longer, and as many times fewer of them, but for some.
    course course_of(const std::string& name, int slowness) const {
        const double seconds = how_.seconds * slowness;
        const int rounds = std::max(how_.rounds / slowness, std::min(how_.rounds, 4));
        return {.turn_length = nanoseconds{static_cast<long long>(seconds * 1e9)},
                .rounds = rounds,
                .progress = [name, rounds](int round) {
                    show_progress(name, "round " + std::to_string(round) + " of " +
                                            std::to_string(rounds));
                }};
    }

    /// Each takes half a minute, as long as Redisson's waiters wait.
    static constexpr int rounds_for_a_failover = 13;

    const wishes& how_;
    const server& home_;
    accounts books_{home_.connect(transport::unix_socket)};
    more_servers more_;
    server_groups groups_;
    redisson java_{home_};
    const onlooker watching_{[this] {
        return own_cpu_seconds() + ended_children_cpu_seconds() + books_.cpu_seconds() +
               more_.cpu_seconds() + groups_.cpu_seconds() + java_.cpu_seconds();
    }};
    record record_;
};

/// Those of one sort that are wanted.
template <typename Event>
std::vector<Event> wanted(std::vector<Event> all, const wishes& how, bool only_when_named = false) {
    std::erase_if(all, [&](const Event& each) {
        bool named = only_when_named;
        if constexpr (requires { each.only_when_named; })
            named = each.only_when_named;
        return !how.wants(each.name, named);
    });
    return all;
}

void run(const wishes& how) {
    const auto all = std::tuple{wanted(contests(), how), wanted(rivalries(), how, true),
                                wanted(failovers(), how, true), wanted(vigils(), how),
                                wanted(shared_vigils(), how)};
    if (std::apply([](const auto&... each) { return (each.empty() && ...); }, all))
        throw std::runtime_error{"there is no " + how.only + "; see --help"};

    listen_to_signals();
    if (how.apart)
        run_on(cores::the_last);
    const server home;
    if (how.apart)
        run_on(cores::all_others);
    meeting here{how, home};
    const auto hold_each = [&](const auto& events) {
        for (const auto& each : events)
            here.hold(each);
    };
    std::apply([&](const auto&... each) { (hold_each(each), ...); }, all);
    here.close();
}

} // namespace
} // namespace holdfast::bench

int main(int argc, char** argv) try {
    if (argc == 3 && std::string_view{argv[1]} == "--neighbour")
        holdfast::bench::be_a_neighbour(argv[2]);
    else
        holdfast::bench::run(holdfast::bench::read_wishes(argc, argv));
} catch (const std::exception& trouble) {
    holdfast::bench::erase_progress();
    // Ctrl-C also ends the JVM, and that is no trouble then.
    const char* const why = holdfast::bench::is_interrupted() ? "interrupted" : trouble.what();
    std::fprintf(stderr, "holdfast_bench: %s\n", why);
    return EXIT_FAILURE;
}
