// SPDX-License-Identifier: Apache-2.0
// Findings that need the reports of several servers. No I/O.
#pragma once

#include "redis/topology/report.hpp"

#include <holdfast/diagnosis.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Requirements that the client's locks place on the servers.
struct lock_needs {
    duration lease{};
    std::size_t replicas = 0; ///< number of replicas that must confirm each grant
};

/// Returns all findings about a report, which must not be empty. `met_info` is the INFO reply on
/// the connection that carries the requests for locks. It is empty if INFO is denied.
std::vector<finding> judge_topology(const topology_report&, const lock_needs&,
                                    std::string_view met_info);

// Parts of judge_topology. Each function adds its findings to the list.
void judge_members(const topology_report&, std::vector<finding>&);
void judge_reach(const topology_report&, std::string_view met_info, std::vector<finding>&);
void judge_failover(const topology_report&, duration lease, std::vector<finding>&);
void judge_replicas(const topology_report&, std::size_t required, std::vector<finding>&);
void judge_clocks(const topology_report&, duration lease, std::vector<finding>&);
void judge_listeners(const topology_report&, std::vector<finding>&);

/// Adds the findings about single servers. A finding that several servers have in common is added
/// only once.
void judge_each(const topology_report&, std::vector<finding>&);

/// Returns the primaries and replicas that replied.
std::vector<const server_report*> servers_in(const topology_report&);

/// Returns the items as text: `a, b, c`. A long list is cut after its first entries.
std::string listed(const std::vector<std::string>&);

/// Returns a duration in words, for example `500 ms` or `19.5 s`.
std::string length_in_words(duration);

} // namespace holdfast::redis
