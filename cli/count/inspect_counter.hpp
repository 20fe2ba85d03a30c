// SPDX-License-Identifier: Apache-2.0
// Commands `holdfast inspect`, `unlock` and `ls` with `--type`: they work on counters instead of
// locks.
#pragma once

#include "cli/look/looking.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Prints the state of the counter. Returns the exit status.
int inspect_counter(holdfast::client&, const look_options&, holdfast::counter_kind);

/// Prints the counters of a kind whose names match `given.name`. Returns the exit status.
int list_counters(holdfast::client&, const look_options& given, holdfast::counter_kind,
                  std::size_t limit, bool names_only);

/// Counters that can be recognized by their keys alone: rates, and permits of which some are held.
/// Other counters are bare numbers, which may belong to any program. If the server refuses to list
/// a kind, stderr says so and that kind is left out.
struct known_counters {
    struct entry {
        holdfast::counter_kind kind;
        std::string name;
        holdfast::counter_state state;
    };
    std::vector<entry> counters{};
    bool complete = true;                   ///< false if there are more than `limit` of a kind
    std::vector<std::string> unreachable{}; ///< servers that were not reached, as in
                                            ///< `holdfast::lock_list`
};
known_counters find_known_counters(holdfast::client&, const std::string& pattern,
                                   std::size_t limit);

/// Prints on stderr that the list is incomplete, and why. `limited` is the noun for the entries,
/// such as "lock", of which there may be more than `limit`.
void tell_incomplete(std::string_view limited, std::size_t limit,
                     const std::vector<std::string>& unreachable);

/// Deletes the counter if it exists, after the user has confirmed it or if `yes` is set. Returns
/// the exit status.
int erase_counter(holdfast::client&, const look_options&, holdfast::counter_kind, bool yes);

} // namespace cli
