// SPDX-License-Identifier: Apache-2.0
// What is known of a counter, for people and for programs.
#pragma once

#include <holdfast/counters.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// `semaphore`, `permits`, `latch` or `rate`; empty: that is no type of a counter.
std::optional<holdfast::counter_kind> counter_type(std::string_view word);
std::string word_of(holdfast::counter_kind);

/// All of these words: "semaphore, permits, latch or rate".
std::string counter_types();

/// `10 starts in any 1m`, if what is drawn is called a start.
std::string rate_in_words(const holdfast::rate&, const std::string& noun);

/// In a line: `3 permits`, `2 permits, 1 held`, `4 to go`, `7 left of 10 permits in any 1m`.
std::string state_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// How many connections wait for it; `-`: of that kind nobody can know it; `?`: refused.
std::string listeners_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// Beside its name: "kind", "exists", "count", "listeners"; of permits "held"; of a rate "rate".
void add_to_json(boost::json::object&, holdfast::counter_kind, const holdfast::counter_state&);

} // namespace cli
