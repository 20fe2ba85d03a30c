// SPDX-License-Identifier: Apache-2.0
// Functions that send changes of counters to the store, or pass released permits on to other
// callers of this client.
#pragma once

#include "sync/lock_handle.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::sync {

class engine;
class counter_descriptor;

/// Returns a change request without a request number. change() assigns the number when it sends the
/// request. Thread-safe.
counter_change change_of(const counter_descriptor&, counter_verb, std::int64_t amount = 0);

/// Sends a change to the store, and repeats the request until the store has replied. All attempts
/// carry the same request number, so the store carries out the change at most once. The retries
/// stop after `unavailable_timeout`, and always before the store forgets the request number. Throws
/// `unreachable` if the change was surely not carried out, and `outcome_unknown` if it may have
/// been. Throws other errors of the store unchanged. After it has returned or thrown, it sends
/// nothing more.
asio::awaitable<counter_answer> change(std::shared_ptr<engine>, counter_change);

/// Handler of a change of a counter. The handler is called once. After success, the error code is
/// empty.
using change_handler = asio::any_completion_handler<void(failure, counter_answer)>;

/// Starts `change()` on the executor `where`: see engine::spawn().
void begin_change(const std::shared_ptr<engine>&, counter_change, change_handler,
                  const asio::any_io_executor& where);

/// Gives back, in the background, permits that were granted to a call after the call had ended.
void give_back(const counter_descriptor&, std::int64_t amount);

/// Passes released permits to waiting callers of this client in their order, without a request to
/// the store. Passes permits on only within the limits of `options::hand_off`, measured from the
/// last grant or release in the store. If a caller requires more replicas than the release does, it
/// gets no permits here.
///
/// Passes on either all released permits or none. Returns false if it passed on none. So a release
/// that goes to the store and fails there has changed nothing locally.
bool hand_over(engine&, const counter_change& released);

} // namespace holdfast::sync
