// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <string>

namespace holdfast::front {

/// Returns the error text for a kind that the client's store does not have. The text names stores
/// that have it.
std::string words_on_missing(lock_kind);
std::string words_on_missing(counter_kind);

} // namespace holdfast::front
