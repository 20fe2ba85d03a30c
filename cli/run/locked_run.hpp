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

/// Options of one `holdfast run`.
struct locked_run {
    std::string url; ///< one URL, or those of a quorum: see `each_url`
    std::string name;
    std::vector<std::string> with; ///< names of further locks; all are taken or none
    arguments command;
    std::optional<std::chrono::duration<double>> lease;
    std::optional<std::chrono::duration<double>> longest_lease; ///< of a quorum, like
                                                                ///< `nodes_remember`
    bool nodes_remember;
    std::optional<std::chrono::duration<double>> hold_for; ///< minimum time to hold the lock
    std::chrono::duration<double> patience;
    holdfast::lock_kind kind; ///< plain, spin, fair, fenced, read, write; permit for `slots`
    std::optional<std::uint32_t> slots;
    std::optional<holdfast::rate> rate; ///< if set, nothing is held and `kind` does not matter
    holdfast::fencing numbers;          ///< numbering of a fenced lock, whose token the command
                                        ///< gets
    std::optional<unsigned> replicas;   ///< replicas that must confirm the lock; if empty, the URL
                                        ///< decides
    on_loss loss;
    int busy_status;
    bool verbose;
};

/// Returns the lock's name for messages; the names of further locks follow with " + ".
std::string title_of(const locked_run&);
/// Describes what the run waits for: `lock 'x'`, `a slot of 'x'`, `the rate of 'x'`.
std::string wanted_thing(const locked_run&, std::size_t longest);

/// Takes the lock, runs the command, and releases the lock. Returns the exit status.
int perform(const locked_run&, const inheritance&);

} // namespace cli
