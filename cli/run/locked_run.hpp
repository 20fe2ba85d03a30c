// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/run/on_loss.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/fenced_mutex.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

class inheritance;

/// Options of a `holdfast run`.
struct locked_run {
    std::string url; ///< one URL, or the URLs of a quorum: see `each_url`
    std::string name;
    std::vector<std::string> with; ///< names of further locks; the run takes all locks or none
    arguments command;
    std::optional<std::chrono::duration<double>> lease;
    /// Longest lease of any client of a quorum.
    std::optional<std::chrono::duration<double>> longest_lease;
    bool nodes_remember;
    std::optional<std::chrono::duration<double>> hold_for; ///< shortest time to hold the lock
    std::chrono::duration<double> patience;
    holdfast::lock_kind kind; ///< plain, spin, fair, fenced, read, write; permit for `slots`
    std::optional<std::uint32_t> slots;
    std::optional<holdfast::rate> rate; ///< if set, no lock is held and `kind` is not used
    /// Numbering of the fencing tokens. The command gets the token.
    holdfast::fencing numbers;
    /// Number of replicas that must confirm the lock. If empty, the URL decides.
    std::optional<unsigned> replicas;
    on_loss loss;
    int busy_status;
    bool verbose;
};

/// Returns the lock's name for messages. Names of further locks are appended with " + ".
std::string title_of(const locked_run&);
/// Describes what the run waits for, for use in messages: `lock 'x'`, `a slot of 'x'`, `the rate of
/// 'x'`.
std::string wanted_thing(const locked_run&, std::size_t longest);

/// Takes the lock, runs the command, and releases the lock. Returns the exit status.
int perform(const locked_run&, const inheritance&);

} // namespace cli
