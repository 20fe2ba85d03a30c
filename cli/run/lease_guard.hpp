// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/child_process.hpp"

#include <holdfast/lease.hpp>

namespace cli {

/// Stops the command when its lock is in danger or lost, and says so. Sets `stopped` when it has
/// begun to; returns never.
///
///     danger, 10 s left ──TERM──▶ a third of that left ──KILL──▶ the lease ends
///     lost: refused     ──TERM──▶ a tenth of the lease later ──KILL
///
/// A danger that passes while the command ends spares it the KILL, not the TERM.
asio::awaitable<void> guard(const holdfast::lease&, child_process&, bool& stopped);

} // namespace cli
