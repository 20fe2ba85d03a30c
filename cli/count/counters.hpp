// SPDX-License-Identifier: Apache-2.0
// The `holdfast` commands on counters: text and JSON of a counter's state, `inspect`, `unlock` and
// `ls` with the option `--type`, and `latch`.
#pragma once

#include "cli/look/looking.hpp"

#include <holdfast/counters.hpp>

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Converts `semaphore`, `permits`, `latch` or `rate` to the type of counter. Returns nothing for
/// any other word.
std::optional<holdfast::counter_kind> counter_type(std::string_view word);
std::string word_of(holdfast::counter_kind);

/// Returns all type names: "semaphore, permits, latch or rate".
std::string counter_types();

/// Returns a text such as `10 starts in any 1m`. `noun` is what the rate counts, here "start".
std::string rate_in_words(const holdfast::rate&, const std::string& noun);

/// Returns the state in one line: `3 permits`, `2 permits, 1 held`, `4 to go`, `7 left of 10
/// permits in any 1m`.
std::string state_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// Returns how many connections wait for the counter, as text. The text is `-` if the server does
/// not know the number, and `?` if the server refused to tell it.
std::string listeners_in_words(holdfast::counter_kind, const holdfast::counter_state&);

/// Adds the fields "kind", "exists", "count" and "listeners" to the JSON object. Also adds "taken"
/// for permits, and "rate" for a rate limiter.
void add_to_json(boost::json::object&, holdfast::counter_kind, const holdfast::counter_state&);

// Commands `holdfast inspect`, `unlock` and `ls` with the option `--type`, for example `holdfast ls
// --type latch`. With this option, the commands work on counters instead of locks.

/// Prints the state of the counter. Returns the exit status.
int inspect_counter(holdfast::client&, const look_options&, holdfast::counter_kind);

/// Prints the counters of a kind whose names match `given.name`. Returns the exit status.
int list_counters(holdfast::client&, const look_options& given, holdfast::counter_kind,
                  std::size_t limit, bool names_only);

/// Counters that can be recognized by their keys: rate limiters, and leased semaphores of which a
/// permit is held. Other counters are plain numbers, which may belong to any program.
struct known_counters {
    struct entry {
        holdfast::counter_kind kind;
        std::string name;
        holdfast::counter_state state;
    };
    std::vector<entry> counters{};
    bool complete = true; ///< false if a kind has more than `limit` counters
    /// Servers that could not be asked; see `holdfast::lock_list`.
    std::vector<std::string> unreachable{};
};
known_counters find_known_counters(holdfast::client&, const look_options& given, std::size_t limit);

/// Prints on stderr why the list is incomplete: it has `limit` entries, or servers could not be
/// reached. `limit` is the maximum number of entries, and `limited` is the noun for an entry, for
/// example "lock".
void tell_incomplete(std::string_view limited, std::size_t limit,
                     const std::vector<std::string>& unreachable);

/// Deletes the counter if it exists. Asks the user first, unless `yes` is set. Returns the exit
/// status.
int erase_counter(holdfast::client&, const look_options&, holdfast::counter_kind, bool yes);

} // namespace cli
