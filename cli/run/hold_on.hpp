// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/signal_inbox.hpp"

#include <holdfast/lease.hpp>

#include <string>

namespace cli {

struct job;

/// Keeps and renews the lock until the given time. Returns earlier if a signal asks this process to
/// end, or if the lock is lost. Prints a message about a loss. Ctrl-Z stops the shell's job, but
/// not this process.
asio::awaitable<void> hold_on(const holdfast::lease&, holdfast::time_point until, signal_inbox&,
                              const job* behind);

} // namespace cli
