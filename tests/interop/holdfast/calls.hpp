// SPDX-License-Identifier: Apache-2.0
// Calls of Redisson's methods, and the threads that make them.
#pragma once

#include "interop/holdfast/home.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

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

// Table of holdfast's equivalents for Redisson's methods, by name. A command is the same for both
// sides.

/// One call of one actor.
struct call {
    home& at;
    std::string actor, object, name, method;
    std::vector<duration> lengths;  ///< the numbers among the arguments; milliseconds, of locks all
    std::vector<std::string> words; ///< the texts among them, those in lists too
    std::stop_token interrupted;
    asio::cancellation_slot cancelled; ///< of an asynchronous call
};

/// Completes on the loop, and can be cancelled there.
template <typename Handler>
auto on_loop(const call& of, Handler handler) {
    return asio::bind_executor(of.at.loop(),
                               asio::bind_cancellation_slot(of.cancelled, std::move(handler)));
}

/// How a call ended.
using answer_to_call = std::function<void(error_code, json::value)>;

/// Whether it is one that answers later; such calls are made on the loop.
bool is_asynchronous(const std::string& method);

/// Throws `boost::system::system_error`, or `std::invalid_argument` for a method that is not here.
json::value answer(const call&);
void answer_later(const call&, answer_to_call);

} // namespace holdfast::interop
