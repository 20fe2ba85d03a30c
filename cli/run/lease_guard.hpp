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

/// Why the command was stopped, for example `lock 'job' was lost`. Empty if it was not stopped.
using stop_reason = std::optional<std::string>;

/// Stops the job when its lock is in danger or lost. Also stops it when `orphaned` fires because
/// the front process, for which the shell waits, was killed. Prints the reason, and sets
/// `stop_reason` when it begins to stop the job. Never returns.
///
///     danger, 10 s left ──TERM──▶ a third of that left ──KILL──▶ the lease ends
///     lost: refused     ──TERM──▶ a tenth of the lease later ──KILL
///     orphaned          ──TERM──▶ `usual_grace` later ──KILL
///
/// `on_loss` can set another signal than TERM, and another time until KILL. In danger, that time
/// can only shorten the wait. After a loss, it may lengthen the wait to at most half a lease. A
/// renewal is refused a third of a lease after the last granted renewal, so the command still ends
/// within that lease.
///
/// If the danger passes after TERM was sent, no KILL follows unless `on_loss` sets a time.
asio::awaitable<void> guard(const holdfast::lease&, running_job&, const on_loss&, const last_words&,
                            std::stop_token orphaned, stop_reason&);

} // namespace cli
