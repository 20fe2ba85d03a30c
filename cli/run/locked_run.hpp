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

/// What `holdfast run` was asked to do.
struct locked_run {
    std::string url; ///< or those of a quorum: `each_url`
    std::string name;
    std::vector<std::string> with; ///< the names of further locks, all or none
    arguments command;
    std::optional<std::chrono::duration<double>> lease;
    std::optional<std::chrono::duration<double>> longest_lease; ///< of a quorum, as is the next
    bool nodes_remember;
    std::optional<std::chrono::duration<double>> hold_for; ///< at least that long
    std::chrono::duration<double> patience;
    holdfast::lock_kind kind; ///< plain, spin, fair, fenced, read, write; permit: one of `slots`
    std::optional<std::uint32_t> slots;
    std::optional<holdfast::rate> rate; ///< then nothing is held, whatever the kind is
    holdfast::fencing numbers;          ///< of a fenced one, whose token the command gets
    std::optional<unsigned> replicas;   ///< must confirm it; empty: as the URL says
    on_loss loss;
    int busy_status;
    bool verbose;
};

/// For people: the name, and with " + " between them those of the further locks.
std::string title_of(const locked_run&);
/// What is waited for: `lock 'x'`, `a slot of 'x'`, `the rate of 'x'`.
std::string wanted_thing(const locked_run&, std::size_t longest);

/// Takes the lock, runs the command, releases; the exit status.
int perform(const locked_run&, const inheritance&);

} // namespace cli
