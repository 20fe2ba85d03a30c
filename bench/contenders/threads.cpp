// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/threads.hpp"

#include <exception>
#include <latch>
#include <thread>

namespace holdfast::bench {
namespace {

struct worker {
    std::vector<nanoseconds> samples;
    std::exception_ptr failure;
};

void work(worker& self, stopwatch::time_point end, int i,
          const std::function<nanoseconds(int)>& once) try {
    while (stopwatch::now() < end)
        self.samples.push_back(once(i));
} catch (...) {
    self.failure = std::current_exception();
}

} // namespace

tally in_threads(int threads, nanoseconds length, const std::function<nanoseconds(int)>& once) {
    std::vector<worker> workers(threads);
    std::latch ready{threads + 1};
    stopwatch::time_point begin;
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                workers[i].samples.reserve(1 << 16); // no reallocation while measuring
                ready.arrive_and_wait();
                work(workers[i], stopwatch::now() + length, i, once);
            });
        ready.arrive_and_wait();
        begin = stopwatch::now();
    }
    tally all{.elapsed = stopwatch::now() - begin};
    for (worker& one : workers) {
        if (one.failure)
            std::rethrow_exception(one.failure);
        all.samples.insert(all.samples.end(), one.samples.begin(), one.samples.end());
    }
    all.done = static_cast<long long>(all.samples.size());
    return all;
}

} // namespace holdfast::bench
