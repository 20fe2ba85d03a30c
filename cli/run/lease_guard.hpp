// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/child_process.hpp"
#include "cli/run/on_loss.hpp"
#include "cli/terminal/last_words.hpp"

#include <holdfast/lease.hpp>

#include <optional>
#include <string>

namespace cli {

/// Why a command was stopped, as `lock 'job' was lost`; nothing: it was not.
using stop_reason = std::optional<std::string>;

/// Stops the command when its lock is in danger or lost, and says so. Sets the reason when it has
/// begun to; returns never.
///
///     danger, 10 s left ──TERM──▶ a third of that left ──KILL──▶ the lease ends
///     lost: refused     ──TERM──▶ a tenth of the lease later ──KILL
///
/// `on_loss` sends another signal than TERM, and KILL earlier, or after a loss later: but within
/// half a lease, for a renewal that is refused comes a third of one after that which was granted.
///
/// A danger that passes while the command ends spares it the KILL, not the TERM.
asio::awaitable<void> guard(const holdfast::lease&, child_process&, const on_loss&,
                            const last_words&, stop_reason&);

} // namespace cli
