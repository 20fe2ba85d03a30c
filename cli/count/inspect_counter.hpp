// SPDX-License-Identifier: Apache-2.0
// `--type` of `holdfast inspect`, `unlock` and `ls`: what is counted under a name.
#pragma once

#include "cli/look/looking.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>

namespace cli {

/// Asks and prints; answers the exit status.
int inspect_counter(holdfast::client&, const look_options&, holdfast::counter_kind);

/// Those of a kind that match `given.name`; prints them, and answers the exit status.
int list_counters(holdfast::client&, const look_options& given, holdfast::counter_kind,
                  std::size_t limit, bool names_only);

/// Deletes it, if there is one, and if who is asked agrees; answers the exit status.
int erase_counter(holdfast::client&, const look_options&, holdfast::counter_kind, bool yes);

} // namespace cli
