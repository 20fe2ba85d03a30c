// SPDX-License-Identifier: Apache-2.0
// What servers that belong together mean for locks. No I/O.
#pragma once

#include "redis/survey/report.hpp"

#include <holdfast/diagnosis.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// What is asked of them.
struct lock_needs {
    duration lease{};
    std::size_t replicas = 0; ///< so many confirm each grant
};

/// All of it, of a report that is not empty. `met_info`: what INFO said over the connection by
/// which locks are asked for; empty if that is denied.
std::vector<finding> judge_topology(const topology_report&, const lock_needs&,
                                    std::string_view met_info);

// Its parts. Each adds what it finds.
void judge_members(const topology_report&, std::vector<finding>&);
void judge_reach(const topology_report&, std::string_view met_info, std::vector<finding>&);
void judge_failover(const topology_report&, duration lease, std::vector<finding>&);
void judge_replicas(const topology_report&, std::size_t required, std::vector<finding>&);
void judge_clocks(const topology_report&, duration lease, std::vector<finding>&);
void judge_listeners(const topology_report&, std::vector<finding>&);

/// Of each server by itself; what several have in common is said once.
void judge_each(const topology_report&, std::vector<finding>&);

/// Primaries and replicas that answered.
std::vector<const server_report*> servers_in(const topology_report&);

/// `a, b, c`; the first few of many.
std::string listed(const std::vector<std::string>&);

/// `500 ms`, `19.5 s`.
std::string length_in_words(duration);

} // namespace holdfast::redis
