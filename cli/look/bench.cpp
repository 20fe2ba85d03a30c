// SPDX-License-Identifier: Apache-2.0
// `holdfast bench`: measures the cost of locks on the user's own server.
#include "cli/look/bench.hpp"

#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/mutex.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

namespace cli {
namespace {

using clock = std::chrono::steady_clock;
using times = std::vector<std::chrono::nanoseconds>;

/// Locks and unlocks until the time `end`. Calls that start before `counted_from` are not measured,
/// because they only warm up.
times pairs_until(holdfast::mutex& lock, clock::time_point counted_from, clock::time_point end,
                  const std::atomic<bool>& failed) {
    times taken;
    for (clock::time_point start = clock::now(); start < end && !failed;) {
        lock.lock();
        holdfast::error_code ec;
        lock.unlock(ec);
        const bool is_unconfirmed = ec == holdfast::errc::unreachable ||
                                    ec == holdfast::errc::outcome_unknown ||
                                    ec == holdfast::errc::lease_lost;
        if (ec && !is_unconfirmed)
            throw boost::system::system_error{ec};
        const clock::time_point now = clock::now();
        if (!ec && start >= counted_from)
            taken.push_back(now - start);
        start = now;
    }
    return taken;
}

std::chrono::nanoseconds at_percent(const times& sorted, std::size_t percent) {
    return sorted.empty() ? std::chrono::nanoseconds{}
                          : sorted[(sorted.size() - 1) * percent / 100];
}

} // namespace

void try_out(holdfast::client& home, const std::string& name, bool expects_failover,
             std::optional<unsigned> replicas) {
    holdfast::mutex lock{home, name, holdfast::mutex_options{.required_replicas = replicas}};
    if (expects_failover)
        lock.lock(); // the name is new, so this call waits only for a server
    else if (!lock.try_lock())
        return;
    lock.unlock();
}

measurement measure(holdfast::client& home, const workload& wanted) {
    const auto length = std::chrono::duration_cast<clock::duration>(wanted.length);
    const clock::time_point counted_from = clock::now() + length / 5;
    const clock::time_point end = counted_from + length;
    std::mutex together;
    std::exception_ptr thrown;
    std::atomic<bool> failed = false;
    times all;
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < wanted.threads; ++i)
            threads.emplace_back([&, i] {
                try {
                    holdfast::mutex lock{
                        home, wanted.name + ":" + std::to_string(i % wanted.locks),
                        holdfast::mutex_options{.required_replicas = wanted.replicas}};
                    const times mine = pairs_until(lock, counted_from, end, failed);
                    const std::scoped_lock held{together};
                    all.insert(all.end(), mine.begin(), mine.end());
                } catch (...) { // rethrown in the calling thread
                    const std::scoped_lock held{together};
                    thrown = std::current_exception();
                    failed = true;
                }
            });
    }
    if (thrown)
        std::rethrow_exception(thrown);
    std::ranges::sort(all);
    const auto seconds = std::chrono::duration<double>{length}.count();
    return {all.size(), static_cast<double>(all.size()) / seconds, at_percent(all, 50),
            at_percent(all, 99)};
}

namespace {

constexpr std::string_view bench_help =
    R"(Measures how fast locks are on your own server: how long lock() and unlock()
take together in one thread, and how many of these pairs one process makes in a
second.

Usage: holdfast bench [OPTIONS]

  -t, --time TIME      how long each of the three measurements takes (default 2;
                       500ms, 1m)
      --threads N      the number of threads in the second and third measurement
                       (default 8)
      --replicas N     require that N replicas confirm each lock (default 0, or
                       the number in the URL), as with 'holdfast run'
      --json           for programs: {"measurements": [{"threads", "locks",
                       "pairs", "pairs_per_second", "p50_us", "p99_us"}],
                       "server"}
      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

The first measurement has one thread. In the second, each thread has a lock of
its own. In the third, all threads share one lock. Most pairs of the third do
not reach the server, because inside one process a lock is handed from thread to
thread. So the third line does not show how fast several processes share a lock.

In a cluster, each lock is on one server, and locks with different names are on
different servers. So only the second measurement uses more than one server.
Behind Sentinels, all locks are on the primary. During a failover, this verb
waits for the new primary. In a database and on ZooKeeper, each pair writes to
the disk twice, which takes most of the time.

The names of the locks begin with holdfast-bench:, and no lock is left behind.
The measurement loads the server as much as it can, so it slows down other
clients of this server.

Exit status:
    0   success
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request

Example:
  holdfast bench --threads 32 -t 5 --url redis://db.internal
)";

struct measured {
    workload what;
    measurement came_out;
};

double microseconds(std::chrono::nanoseconds length) {
    const auto tenths = length.count() / 100;
    return static_cast<double>(tenths) / 10;
}

std::string with_one_digit(double number) {
    std::array<char, 32> text{};
    return {text.data(),
            static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.1f", number))};
}

std::string workload_in_words(const workload& what, bool in_cluster) {
    if (what.threads == 1)
        return in_cluster ? "1 thread, on one server of the cluster" : "1 thread";
    const std::string threads = std::to_string(what.threads) + " threads, ";
    if (what.locks == 1)
        return threads + "one lock (hand-off inside this process)";
    return threads + (in_cluster ? "a lock each, spread over the cluster" : "a lock each");
}

void print_table(const std::vector<measured>& all, const std::string& server) {
    table lines{{{"WHO", 16}, {"PAIRS/S"}, {"P50 (us)"}, {"P99 (us)"}}};
    for (const auto& [what, got] : all)
        lines.add({workload_in_words(what, is_of_cluster(server)),
                   std::to_string(std::llround(got.pairs_per_second)),
                   with_one_digit(microseconds(got.p50)), with_one_digit(microseconds(got.p99))});
    lines.print(std::cout, form_of(STDOUT_FILENO));
}

void print_json(const std::vector<measured>& all, const std::string& server) {
    boost::json::array lines;
    for (const auto& [what, got] : all)
        lines.push_back({{"threads", what.threads},
                         {"locks", what.locks},
                         {"pairs", got.pairs},
                         {"pairs_per_second", std::round(got.pairs_per_second)},
                         {"p50_us", microseconds(got.p50)},
                         {"p99_us", microseconds(got.p99)}});
    write_json(boost::json::object{{"measurements", std::move(lines)},
                                   {"server", text_in_json(without_password(server))}});
}

} // namespace

int bench(const inheritance& inherited, arguments all) {
    look_options given;
    std::optional<std::chrono::duration<double>> length;
    std::size_t threads = 8;
    std::optional<unsigned> replicas;
    CLI::App expected{"", "bench"};
    expect_time(expected, "-t,--time", "-t", length);
    expect_number(expected, "--threads", "--threads", 2, 1000,
                  [&threads](std::uint64_t number) { threads = static_cast<std::size_t>(number); });
    expect_replicas(expected, replicas);
    if (!parse_look(expected, given, lock_word::none, std::move(all), bench_help))
        return success;
    const auto each = length.value_or(std::chrono::seconds{2});
    constexpr std::chrono::hours longest{1};
    if (each.count() <= 0 || each > longest)
        throw usage_error{"-t must be more than 0 and at most 1h"};

    return ask_server(inherited, given, [&](holdfast::client& home) {
        const std::string name = "holdfast-bench:" + home.id();
        (void)answer_of_server([&] {
            try_out(home, name, has_failover(given.server), replicas);
            return true;
        });
        std::vector<measured> done;
        for (const workload& next : {workload{name, 1, 1, replicas, each},
                                     workload{name, threads, threads, replicas, each},
                                     workload{name, threads, 1, replicas, each}})
            done.push_back({next, measure(home, next)});
        given.json ? print_json(done, given.server) : print_table(done, given.server);
        return success;
    });
}

} // namespace cli
