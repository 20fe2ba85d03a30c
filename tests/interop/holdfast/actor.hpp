// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace holdfast::interop {

/// A thread that lives as long as the process: blocking holds belong to threads.
class actor {
public:
    using task = std::function<void(std::stop_token interrupted)>;

    void run(task);

    /// Ends the wait of the task that runs now, if it can be ended.
    void interrupt();

private:
    void play(const std::stop_token& over);

    std::mutex mutex_; // guards what follows
    std::condition_variable_any something_;
    std::deque<task> tasks_;
    std::stop_source interruption_;

    std::jthread thread_{[this](const std::stop_token& over) { play(over); }};
};

} // namespace holdfast::interop
