// SPDX-License-Identifier: Apache-2.0
#include "bench/renewal/beside_one_server.hpp"

#include "bench/renewal/many_leases.hpp"
#include "bench/server/cpu.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A third of the default lease. In this time each lease is renewed once.
constexpr nanoseconds whole_period = 10s;
constexpr int periods = 3;

/// CPU use of one side in percent of one core, one value for each period.
struct expenses {
    std::vector<double> client, servers;
};

/// Counts the sides that have taken all their locks. `failed` ends the wait for the other side if a
/// side has failed.
struct meeting_point {
    std::atomic<int> ready{0};
    std::atomic<bool> failed{false};
    bool is_over() const { return ready == 2 || failed; }
};

/// Keeps the leases for one period on the calling thread. The thread does nothing else meanwhile.
void keep_a_period(many_leases& kept, accounts& books, int leases, expenses& all) {
    books.clear();
    const auto begin = stopwatch::now();
    const double client_before = thread_cpu_seconds(), servers_before = books.cpu_seconds();
    kept.keep_until([begin] { return stopwatch::now() - begin >= whole_period; });
    const double client = thread_cpu_seconds() - client_before;
    const double servers = books.cpu_seconds() - servers_before;
    const std::chrono::duration<double> length = stopwatch::now() - begin;
    if (const auto renewed = books.leases_extended(); renewed < leases)
        throw std::runtime_error{"only " + std::to_string(renewed) + " renewals in a whole period"};
    all.client.push_back(100 * client / length.count());
    all.servers.push_back(100 * servers / length.count());
}

expenses keep(const arena& where, accounts books, int leases, meeting_point& both) try {
    many_leases kept{where, leases};
    kept.take();
    ++both.ready;
    kept.keep_until([&] { return both.is_over(); });
    expenses all;
    for (int i = 0; i < periods && !both.failed; ++i)
        keep_a_period(kept, books, leases, all);
    if (!kept.are_held() || std::ssize(books.keys()) != leases)
        throw std::runtime_error{"a lease was lost"};
    kept.release();
    if (!books.keys().empty())
        throw std::runtime_error{"a release left its lock behind"};
    return all;
} catch (...) {
    both.failed = true;
    throw;
}

} // namespace

std::vector<figure> keep_beside_one_server(const shared_vigil& which, const arena& of_several,
                                           const arena& of_one) {
    meeting_point both;
    auto begin = [&](const arena& where) {
        return std::async(std::launch::async, [&, books = books_of(where)]() mutable {
            return keep(where, std::move(books), which.leases, both);
        });
    };
    auto ours = begin(of_several), yardstick = begin(of_one);
    const expenses several = ours.get(), one = yardstick.get();
    return figures(
        which.name, which.wanted,
        std::vector<comparison>{
            {".client_cpu", "% of a core", better::lower, several.client, one.client},
            {".server_cpu", "% of a core", better::lower, several.servers, one.servers}});
}

} // namespace holdfast::bench
