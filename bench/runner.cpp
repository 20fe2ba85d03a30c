// SPDX-License-Identifier: Apache-2.0
#include "bench/runner.hpp"

#include "bench/failover/failover.hpp"
#include "bench/renewal/renewal.hpp"
#include "bench/standstill/standstill.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Time until the server's statistics no longer change. Until then, the server may still get
/// requests that no caller waits for, for example a deferred release of holdfast.
constexpr auto books_close_within = 2s;

void compare_with_books(const tally& all, const claim& scripts, const ledger& books) {
    if (all.done == 0 || all.samples.empty())
        throw std::runtime_error{"did nothing in a whole turn"};
    const auto deadline = stopwatch::now() + books_close_within;
    for (;;) {
        const std::string trouble = books.trouble_with(scripts);
        if (trouble.empty())
            return;
        if (stopwatch::now() > deadline)
            throw std::runtime_error{"did " + std::to_string(all.done) + ", but " + trouble};
        std::this_thread::sleep_for(1ms);
    }
}

} // namespace

turn take_turn(contender& who, ledger& books, nanoseconds length,
               std::vector<nanoseconds>& samples) {
    books.clear();
    const double server_before = books.cpu_seconds();
    const double client_before = who.cpu_seconds();
    tally all = who.run(length);
    const double client_cpu = who.cpu_seconds() - client_before;
    const double server_cpu = books.cpu_seconds() - server_before;
    compare_with_books(all, who.scripts_for(all), books);
    samples.insert(samples.end(), all.samples.begin(), all.samples.end());
    const auto done = static_cast<double>(all.done);
    const double seconds = std::chrono::duration<double>{all.elapsed}.count();
    return {.per_second = done / seconds,
            .p50_us = percentile_us(all.samples, 0.50),
            .p99_us = percentile_us(all.samples, 0.99),
            .client_cpu_us = client_cpu * 1e6 / done,
            .server_cpu_us = server_cpu * 1e6 / done,
            .memory_kb = who.memory_kb(),
            .commands = static_cast<double>(books.commands_sent()) / done,
            .server_share = 100 * server_cpu / seconds / done};
}

namespace {

/// One of the two compared programs, with all its samples so far.
struct side {
    const char* name;
    contender& who;
    std::vector<nanoseconds> samples{};

    turn take_turn(ledger& books, nanoseconds length) try {
        return bench::take_turn(who, books, length, samples);
    } catch (const std::exception& trouble) {
        throw std::runtime_error{std::string{name} + ": " + trouble.what()};
    }
};

} // namespace

outcome duel(contender& we, contender& they, ledger& books, const course& how) {
    std::vector<round> rounds;
    side ours{"ours", we}, yardstick{"yardstick", they};
    for (int i = 0; i <= how.rounds; ++i) {
        how.progress(i);
        round now{};
        const bool we_first = i % 2 == 1;
        if (we_first)
            now.ours = ours.take_turn(books, how.turn_length);
        now.yardstick = yardstick.take_turn(books, how.turn_length);
        if (!we_first)
            now.ours = ours.take_turn(books, how.turn_length);
        if (i > 0) {
            rounds.push_back(now);
            continue;
        }
        // Drop the samples of the warm-up, which opens connections, loads scripts and fills caches.
        ours.samples.clear();
        yardstick.samples.clear();
    }
    return {.rounds = std::move(rounds),
            .ours = distribution_of(std::move(ours.samples)),
            .yardstick = distribution_of(std::move(yardstick.samples))};
}

namespace {

class mixed : public contender {
public:
    mixed(const arena& where, peer& rival)
        : crowd_{holdfast_gate(where)}
        , rival_{rival} {}

    tally run(nanoseconds length) override {
        rival_.begin("now-and-then", 1, length);
        tally all = crowd_->run(length);
        all.samples = std::move(rival_.finish().samples);
        return all;
    }

    /// The minimum is two scripts for each pair of lock and unlock of the other process, and two
    /// scripts of this process. There is no maximum number, because failed attempts need more
    /// scripts.
    claim scripts_for(const tally& all) const override {
        const auto rivals = static_cast<long long>(all.samples.size());
        return {2 + 2 * rivals, std::numeric_limits<long long>::max()};
    }

private:
    made crowd_;
    peer& rival_;
};

} // namespace

made crowd_and_rival(const arena& where, peer& rival) {
    return std::make_unique<mixed>(where, rival);
}

namespace {

/// A value of `options::hand_off::within` (the time for local hand-overs), and its results in all
/// rounds.
struct budget {
    std::string within;
    std::vector<turn> turns{};
    std::vector<nanoseconds> waits{}; ///< waits of the other process

    /// Runs one measurement with a new client. The client must find out that another process waits,
    /// and this time is measured, too.
    void take_turn(arena where, peer& rival, accounts& books, const course& how, bool counts) {
        where.query = "?hand_off_within=" + within;
        const made both = crowd_and_rival(where, rival);
        std::vector<nanoseconds> waited;
        const turn seen = bench::take_turn(*both, books, how.turn_length, waited);
        if (!counts)
            return;
        turns.push_back(seen);
        waits.insert(waits.end(), waited.begin(), waited.end());
    }
};

std::vector<figure> figures_of(const std::string& trial, budget& seen, const budget& none) {
    const std::string name = trial + "." + seen.within;
    std::vector<round> rounds;
    for (std::size_t i = 0; i < seen.turns.size(); ++i)
        rounds.push_back({.ours = seen.turns[i], .yardstick = none.turns[i]});
    std::vector<figure> all = figures(name, hand_offs_beside, {}, rounds);
    const auto wait = [&](const char* suffix, double part) {
        const sighting it{suffix, "us waited", better::lower, percentile_us(seen.waits, part)};
        const std::vector<figure> one = figures(name, {}, {it});
        all.insert(all.end(), one.begin(), one.end());
    };
    wait(".rival.p50", 0.5);
    wait(".rival.p99", 0.99);
    wait(".rival.max", 1);
    return all;
}

} // namespace

std::vector<figure> compare_budgets(const rivalry& which, arena where, accounts& books,
                                    const course& how) {
    std::optional<peer> neighbour;
    if (which.other == rival::holdfast)
        neighbour.emplace(std::vector<std::string>{"/proc/self/exe", "--neighbour", where.url()},
                          where.home.folder() / "neighbour.log");
    peer& rival = neighbour ? *neighbour : where.java.process();
    std::vector<budget> budgets;
    for (const char* within : {"0ms", "1ms", "5ms", "10ms", "20ms", "50ms", "100ms"})
        budgets.push_back({within});
    for (int i = 0; i <= how.rounds; ++i) {
        how.progress(i);
        for (budget& each : budgets)
            each.take_turn(where, rival, books, how, i > 0);
    }
    std::vector<figure> all;
    for (budget& each : budgets)
        std::ranges::copy(figures_of(which.name, each, budgets.front()), std::back_inserter(all));
    return all;
}

namespace {

/// Number of rounds of a failover. Each round takes half a minute, because a waiter of Redisson may
/// wait for that long.
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

/// Returns the length of a measurement and the number of rounds. `slowness` multiplies the length
/// and divides the number of rounds, but four rounds are the minimum.
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
