// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <string>

namespace holdfast::front {

/// What is said of a kind that the client's store does not have: with the stores that do.
std::string words_on_missing(lock_kind);
std::string words_on_missing(counter_kind);

} // namespace holdfast::front
