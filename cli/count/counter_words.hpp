// SPDX-License-Identifier: Apache-2.0
// Describes the state of a counter, as text for people and as JSON for programs.
#pragma once

#include <holdfast/counters.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// Returns the counter type for the word `semaphore`, `permits`, `latch` or `rate`. Returns nothing
/// for any other word.
std::optional<holdfast::counter_kind> counter_type(std::string_view word);
std::string word_of(holdfast::counter_kind);

/// Returns all type names: "semaphore, permits, latch or rate".
std::string counter_types();

/// Returns for example `10 starts in any 1m`. `noun` is the word for a permit, here "start".
std::string rate_in_words(const holdfast::rate&, const std::string& noun);

/// Returns the state in one line: `3 permits`, `2 permits, 1 held`, `4 to go`, `7 left of 10
/// permits in any 1m`.
std::string state_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// Returns how many connections wait for the counter. Returns `-` if the server cannot count them
/// for this kind, and `?` if the server refused to tell the number.
std::string listeners_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// Adds "kind", "exists", "count" and "listeners" to the object. For permits it also adds "held",
/// and for a rate it also adds "rate".
void add_to_json(boost::json::object&, holdfast::counter_kind, const holdfast::counter_state&);

} // namespace cli
