// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/signal_inbox.hpp"

#include <holdfast/lease.hpp>

#include <string>

namespace cli {

struct job;

/// Keeps the lock, which is still renewed, until that moment. A signal that asks us to end ends
/// this earlier, and so does the loss of the lock, which is told. Ctrl-Z stops the job, not us.
asio::awaitable<void> hold_on(const holdfast::lease&, holdfast::time_point until, signal_inbox&,
                              const job* behind);

} // namespace cli
