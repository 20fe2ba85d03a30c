// SPDX-License-Identifier: Apache-2.0
// What a run does now, for people, on a line of standard error that is overwritten.
#pragma once

#include <string>

namespace holdfast::bench {

/// The first Ctrl-C ends the run between two turns, so that the server's folder is removed; the
/// second ends it at once.
void listen_to_signals();
bool is_interrupted();

/// Throws if the run was interrupted.
void show_progress(const std::string& contest, const std::string& doing);
void erase_progress();

} // namespace holdfast::bench
