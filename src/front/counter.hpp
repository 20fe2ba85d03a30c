// SPDX-License-Identifier: Apache-2.0
// What is checked of a counter before anything is sent.
#pragma once

#include "sync/change.hpp"
#include "sync/counter_subject.hpp"
#include "sync/engine.hpp"

#include <holdfast/basic_counter.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::front {

// Each throws `errc::invalid_argument`.

/// Also throws `closed` if the store is gone.
void must_offer(const sync::engine&, counter_kind);

/// What a user calls by that name, as the store will see it.
std::shared_ptr<const sync::counter_subject>
make_counter(const std::shared_ptr<sync::engine>&, const lock_name&, const detail::counter_setup&);

/// So much can be taken at once.
std::int64_t checked_take(const sync::counter_subject&, std::int64_t amount);

/// Nothing: it would change nothing, and needs no message.
std::optional<counter_change> checked_change(const sync::counter_subject&, counter_verb,
                                             std::int64_t amount, std::optional<duration> kept);

sync::request request_for(const std::shared_ptr<const sync::counter_subject>&, std::int64_t amount,
                          duration patience);

} // namespace holdfast::front
