// SPDX-License-Identifier: Apache-2.0
#include "cli/look/measurement.hpp"

#include <holdfast/mutex.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

namespace cli {
namespace {

using clock = std::chrono::steady_clock;
using times = std::vector<std::chrono::nanoseconds>;

/// Locks and unlocks until `end`. Calls that start before `counted_from` are a warm-up and are not
/// measured.
times pairs_until(holdfast::mutex& lock, clock::time_point counted_from, clock::time_point end,
                  const std::atomic<bool>& failed) {
    times taken;
    for (clock::time_point start = clock::now(); start < end && !failed;) {
        lock.lock();
        holdfast::error_code ec;
        lock.unlock(ec);
        if (ec)
            throw boost::system::system_error{ec};
        const clock::time_point now = clock::now();
        if (start >= counted_from)
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

void try_out(holdfast::client& home, const std::string& name, std::optional<unsigned> replicas) {
    holdfast::mutex lock{home, name, holdfast::mutex_options{.required_replicas = replicas}};
    if (lock.try_lock())
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

} // namespace cli
