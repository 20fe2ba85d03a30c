// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/tenure.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::sync {

class engine;
class counter_subject;

/// Without a request number: that is drawn when it is asked for. Any thread.
counter_change change_of(const counter_subject&, counter_verb, std::int64_t amount = 0);

/// Asks the store until it has answered, always under one request number, so that it is carried out
/// at most once. Gives up after `unavailable_patience`, and before the store forgets
/// the request. Throws `unreachable` if nothing can have been done, else `outcome_unknown`; and
/// whatever else the store fails with. Nothing is sent once it has ended.
asio::awaitable<counter_answer> change(std::shared_ptr<engine>, counter_change);

/// Told once; an empty code for well.
using change_handler = asio::any_completion_handler<void(failure, counter_answer)>;

/// The same, asked on `where`: see engine::spawn().
void begin_change(const std::shared_ptr<engine>&, counter_change, change_handler,
                  const asio::any_io_executor& where);

/// Gives back, in the background, what a call was granted that nobody waits for any more.
void give_back(const counter_subject&, std::int64_t amount);

} // namespace holdfast::sync
