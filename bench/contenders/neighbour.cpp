// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/neighbour.hpp"

#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/one_lock.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/version.hpp>

#include <iostream>
#include <sstream>
#include <thread>

namespace holdfast::bench {
namespace {

/// Returns the pause before a turn: one to ten milliseconds, as in Threads.java. So the request
/// arrives at a random time within the hand-over budget of the other process.
std::chrono::milliseconds rest(long long time) {
    return std::chrono::milliseconds{1 + 7 * time % 10};
}

tally now_and_then(client& home, nanoseconds length) {
    mutex lock{home, name_of_lock(0)};
    tally all;
    all.elapsed = time_of([&] {
        const auto end = stopwatch::now() + length;
        do {
            std::this_thread::sleep_for(rest(all.done));
            all.samples.push_back(time_of([&] { lock.lock(); }));
            expect_unlocked(lock);
            ++all.done;
        } while (stopwatch::now() < end);
    });
    return all;
}

tally in_the_queue(client& home, int threads, nanoseconds length) {
    fair_mutex lock{home, name_of_lock(0)};
    return through_one_lock(
        threads, length, [&] { lock.lock(); }, [&] { expect_unlocked(lock); });
}

std::string answer(client& home, const std::string& command) try {
    std::istringstream words{command};
    std::string kind;
    int threads = 0;
    long long length = 0;
    words >> kind >> threads >> length;
    if (words && kind == "now-and-then" && threads == 1)
        return line_of(now_and_then(home, nanoseconds{length}));
    if (words && kind == "fair")
        return line_of(in_the_queue(home, threads, nanoseconds{length}));
    return line_of_failure("this is no turn: " + command);
} catch (const std::exception& trouble) {
    return line_of_failure(trouble.what());
}

} // namespace

void be_a_neighbour(const char* url) {
    client home{url};
    std::cout << "holdfast " << HOLDFAST_VERSION_STRING << std::endl;
    for (std::string command; std::getline(std::cin, command);)
        std::cout << answer(home, command) << std::endl;
}

} // namespace holdfast::bench
