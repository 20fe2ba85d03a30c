// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/tenure.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::sync {

class engine;
class counter_subject;

/// Returns the change without a request number, which is drawn when the change is sent.
/// Thread-safe.
counter_change change_of(const counter_subject&, counter_verb, std::int64_t amount = 0);

/// Sends a change to the store until the store has answered. All attempts have the same request
/// number, so the store carries out the change at most once. Gives up after `unavailable_patience`,
/// and always before the store forgets the request number. Throws `unreachable` if nothing can have
/// been done, else `outcome_unknown`. Throws other errors of the store unchanged. Nothing is sent
/// after the end.
asio::awaitable<counter_answer> change(std::shared_ptr<engine>, counter_change);

/// Handler of a change. It is called once; the code is empty on success.
using change_handler = asio::any_completion_handler<void(failure, counter_answer)>;

/// Starts `change()` on the executor `where`: see engine::spawn().
void begin_change(const std::shared_ptr<engine>&, counter_change, change_handler,
                  const asio::any_io_executor& where);

/// Gives back, in the background, permits that were granted to a call that had ended already.
void give_back(const counter_subject&, std::int64_t amount);

} // namespace holdfast::sync
