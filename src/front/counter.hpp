// SPDX-License-Identifier: Apache-2.0
// Checks of a counter's arguments, before anything is sent.
#pragma once

#include "sync/change.hpp"
#include "sync/counter_subject.hpp"
#include "sync/engine.hpp"

#include <holdfast/basic_counter.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::front {

// Each function below throws `errc::invalid_argument`.

/// Checks that the store has counters of this kind. Also throws `closed` if the store no longer
/// exists.
void must_offer(const sync::engine&, counter_kind);

/// Makes the descriptor of a counter, with its name as the store sees it.
std::shared_ptr<const sync::counter_subject>
make_counter(const std::shared_ptr<sync::engine>&, const lock_name&, const detail::counter_setup&);

/// Returns the amount if it is allowed for one call.
std::int64_t checked_take(const sync::counter_subject&, std::int64_t amount);

/// Returns the change. Returns nothing if it would change nothing and needs no request.
std::optional<counter_change> checked_change(const sync::counter_subject&, counter_verb,
                                             std::int64_t amount, std::optional<duration> kept);

sync::request request_for(const std::shared_ptr<const sync::counter_subject>&, std::int64_t amount,
                          duration patience);

} // namespace holdfast::front
