// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a run on one line of stderr, which is overwritten.
#pragma once

#include <string>

namespace holdfast::bench {

/// Handles Ctrl-C. The first Ctrl-C ends the run after the present turn, so that the server's
/// folder is removed. The second Ctrl-C ends the program at once.
void listen_to_signals();
bool is_interrupted();

/// Prints the progress. Throws if the run was interrupted.
void show_progress(const std::string& contest, const std::string& doing);
void erase_progress();

} // namespace holdfast::bench
