// SPDX-License-Identifier: Apache-2.0
// What Redisson's methods mean to us, by their names: the commands do not know which side they go
// to.
#pragma once

#include "interop/holdfast/home.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

namespace holdfast::interop {

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
