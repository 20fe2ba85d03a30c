// SPDX-License-Identifier: Apache-2.0
#include "bench/threads.hpp"

#include <exception>
#include <latch>
#include <thread>

namespace holdfast::bench {
namespace {

struct worker {
    std::vector<nanoseconds> pairs;
    std::exception_ptr failure;
};

void work(worker& self, stopwatch::time_point end, const std::function<void()>& pair) try {
    for (auto begin = stopwatch::now(); begin < end;) {
        pair();
        const auto now = stopwatch::now();
        self.pairs.push_back(now - begin);
        begin = now;
    }
} catch (...) {
    self.failure = std::current_exception();
}

} // namespace

tally in_threads(int threads, nanoseconds length, const std::function<void(int)>& pair) {
    std::vector<worker> workers(threads);
    std::latch ready{threads + 1};
    stopwatch::time_point begin;
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                workers[i].pairs.reserve(1 << 16); // no growth while it is measured
                ready.arrive_and_wait();
                work(workers[i], stopwatch::now() + length, [&, i] { pair(i); });
            });
        ready.arrive_and_wait();
        begin = stopwatch::now();
    }
    tally all{.pairs = {}, .elapsed = stopwatch::now() - begin};
    for (worker& one : workers) {
        if (one.failure)
            std::rethrow_exception(one.failure);
        all.pairs.insert(all.pairs.end(), one.pairs.begin(), one.pairs.end());
    }
    return all;
}

} // namespace holdfast::bench
