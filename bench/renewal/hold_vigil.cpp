// SPDX-License-Identifier: Apache-2.0
// Measures two whole periods of renewal. In the first period, the server notifies a watcher of each
// renewal, and the delay is measured. The notifications cost CPU time. So the CPU use is measured
// in the second period, without a watcher.
#include "bench/renewal/hold_vigil.hpp"

#include "bench/renewal/many_leases.hpp"
#include "bench/renewal/watcher.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <malloc.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A third of the default lease: the latest time of a renewal. A renewal may come up to a tenth of
/// this time earlier.
constexpr nanoseconds due_after = 10s;

double seconds(nanoseconds length) {
    return std::chrono::duration<double>{length}.count();
}

/// Returns the number of heap bytes in use. It includes the allocator's overhead for each block,
/// but not free memory.
double heap_in_use() {
    const struct mallinfo2 now = ::mallinfo2();
    return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

struct usage {
    double client, server;
};

usage used_so_far(const accounts& books) {
    return {.client = own_cpu_seconds(), .server = books.cpu_seconds()};
}

using progress = std::function<void(const char*)>;

/// Returns the delay of the latest renewal. Renewal times are random, so among many leases some are
/// due only after the whole third. A delay of all renewals is therefore fully visible.
nanoseconds longest_delay(many_leases& kept, const watcher& seen, int leases,
                          const progress& tell) {
    const auto deadline = stopwatch::now() + 2 * due_after;
    kept.keep_until([&] {
        tell("watching each be renewed");
        return seen.renewed() == leases || stopwatch::now() > deadline;
    });
    if (seen.renewed() != leases)
        throw std::runtime_error{"of the leases only " + std::to_string(seen.renewed()) +
                                 " were renewed in time"};
    return std::max(seen.longest_without() - due_after, 0ns);
}

/// Returns the CPU use over a whole period, in percent of one core.
usage expense(many_leases& kept, accounts& books, int leases, const progress& tell) {
    books.clear();
    const auto begin = stopwatch::now();
    const usage before = used_so_far(books);
    kept.keep_until([&] {
        tell("measuring a whole period");
        return stopwatch::now() - begin >= due_after;
    });
    const usage after = used_so_far(books);
    const double length = seconds(stopwatch::now() - begin);
    if (const auto renewed = books.leases_extended(); renewed < leases)
        throw std::runtime_error{"only " + std::to_string(renewed) + " renewals in a whole period"};
    return {.client = 100 * (after.client - before.client) / length,
            .server = 100 * (after.server - before.server) / length};
}

} // namespace

std::vector<figure> hold_vigil(const vigil& which, const arena& where, accounts& books,
                               const progress& tell) {
    many_leases kept{where, which.leases};
    const double heap_before = heap_in_use();
    nanoseconds delay{};
    {
        watcher seen{where, which.leases}; // destroyed before the heap is measured
        tell("taking the locks");
        kept.take();
        delay = longest_delay(kept, seen, which.leases, tell);
    }
    const usage used = expense(kept, books, which.leases, tell);
    const double bytes = (heap_in_use() - heap_before) / which.leases;
    if (bytes <= 0)
        throw std::runtime_error{"the allocator does not tell what is in use"};
    if (!kept.are_held() || std::ssize(books.keys()) != which.leases)
        throw std::runtime_error{"a lease was lost"};
    kept.release();
    if (!books.keys().empty())
        throw std::runtime_error{"a release left its lock behind"};
    return figures(which.name, which.wanted,
                   {{".bytes", "bytes/lease", better::lower, bytes},
                    {".client_cpu", "% of a core", better::lower, used.client},
                    {".server_cpu", "% of a core", better::lower, used.server},
                    {".delay", "ms", better::lower, 1e3 * seconds(delay)}});
}

} // namespace holdfast::bench
