// SPDX-License-Identifier: Apache-2.0
// `--type` of `holdfast inspect`, `unlock` and `ls`: what is counted under a name.
#pragma once

#include "cli/look/looking.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Asks and prints; answers the exit status.
int inspect_counter(holdfast::client&, const look_options&, holdfast::counter_kind);

/// Those of a kind that match `given.name`; prints them, and answers the exit status.
int list_counters(holdfast::client&, const look_options& given, holdfast::counter_kind,
                  std::size_t limit, bool names_only);

/// Those whose keys alone say what they are: rates, and permits of which some are held. A bare
/// number may be anybody's. What the server refuses to list is told on stderr, and left out.
struct known_counters {
    struct entry {
        holdfast::counter_kind kind;
        std::string name;
        holdfast::counter_state state;
    };
    std::vector<entry> counters{};
    bool complete = true; ///< false: there are more than `limit` of a kind
    std::vector<std::string> unreachable{}; ///< as in `holdfast::lock_list`
};
known_counters find_known_counters(holdfast::client&, const std::string& pattern,
                                   std::size_t limit);

/// That not all are told, and why. `limited`: what is more than that.
void tell_incomplete(std::string_view limited, std::size_t limit,
                     const std::vector<std::string>& unreachable);

/// Deletes it, if there is one, and if who is asked agrees; answers the exit status.
int erase_counter(holdfast::client&, const look_options&, holdfast::counter_kind, bool yes);

} // namespace cli
