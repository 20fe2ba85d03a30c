// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/contender.hpp"

#include <exception>
#include <future>
#include <latch>
#include <limits>
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

tally relay::run(nanoseconds length) {
    tally all;
    const auto begin = stopwatch::now();
    do {
        all.samples.push_back(wake_up());
        ++all.done;
    } while (stopwatch::now() < begin + length);
    all.elapsed = stopwatch::now() - begin;
    return all;
}

claim relay::scripts_for(const tally& all) const {
    return {4 * all.done, std::numeric_limits<long long>::max()};
}

nanoseconds relay::wake_up() {
    hold_back();
    std::latch about_to_wait{1};
    auto returned = std::async(std::launch::async, [&] {
        about_to_wait.count_down();
        wait();
        const auto now = stopwatch::now();
        give_back();
        return now;
    });
    about_to_wait.wait();
    std::this_thread::sleep_for(length_of_pause());
    const auto released = stopwatch::now();
    let_go_on();
    return returned.get() - released;
}

std::chrono::microseconds relay::length_of_pause() {
    std::uniform_int_distribution<std::chrono::microseconds::rep> any{pause_.least.count(),
                                                                      pause_.most.count()};
    return std::chrono::microseconds{any(chance_)};
}

} // namespace holdfast::bench
