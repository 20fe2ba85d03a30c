// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/run/on_loss.hpp"
#include "cli/run/running_job.hpp"
#include "cli/terminal/last_words.hpp"

#include <holdfast/lease.hpp>

#include <optional>
#include <stop_token>
#include <string>

namespace cli {

/// Why a command was stopped, as `lock 'job' was lost`; nothing: it was not.
using stop_reason = std::optional<std::string>;

/// Stops the job when its lock is in danger or lost, or when `orphaned` says that the process which
/// the shell waits for has been killed. Says so. Sets the reason when it has begun to; returns
/// never.
///
///     danger, 10 s left ──TERM──▶ a third of that left ──KILL──▶ the lease ends
///     lost: refused     ──TERM──▶ a tenth of the lease later ──KILL
///     orphaned          ──TERM──▶ `usual_grace` later ──KILL
///
/// `on_loss` sends another signal than TERM, and KILL earlier, or after a loss later: but within
/// half a lease, for a renewal that is refused comes a third of one after that which was granted.
///
/// A danger that passes while the command ends spares it the KILL, not the TERM.
asio::awaitable<void> guard(const holdfast::lease&, running_job&, const on_loss&, const last_words&,
                            std::stop_token orphaned, stop_reason&);

} // namespace cli
