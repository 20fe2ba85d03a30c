// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/relay.hpp"

#include <future>
#include <latch>
#include <limits>
#include <thread>

namespace holdfast::bench {

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
