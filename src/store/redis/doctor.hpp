// SPDX-License-Identifier: Apache-2.0
// The checks behind `doctor` for Redis servers: findings about one server from its INFO reply,
// findings about several servers from a topology report, and a test with a trial lock. Only
// examine_server() does I/O.
#pragma once

#include "redis/node.hpp"
#include "redis/topology/report.hpp"

#include <holdfast/diagnosis.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Facts about a server that its INFO reply does not contain.
struct durability_settings {
    /// True if the server has replicas or is a replica. If such a server loses data in a restart,
    /// its replicas or its primary lose the same data.
    bool has_replicas = false;
    /// Value of the setting appendfsync, which says when the append-only file is synced. Empty if
    /// unknown.
    std::string fsync{};
};

/// Values from a server's INFO reply. They show whether the server is fit for locks.
class server_facts {
public:
    /// Reads the lines of INFO that have the form `field:value`, and ignores all other lines.
    explicit server_facts(std::string_view info, durability_settings = {});

    /// Returns the findings about version, memory, disk and clients.
    std::vector<finding> judge() const;

    /// Returns the finding about the role of the server (primary or replica). This finding is used
    /// only if no other server was asked.
    finding role() const;

private:
    std::string_view text(std::string_view field) const;
    long long number(std::string_view field) const; ///< 0 if INFO does not have the field

    finding version() const;
    finding eviction() const;
    finding persistence() const;
    finding clients() const;

    std::map<std::string, std::string, std::less<>> fields_;
    const durability_settings around_;
};

/// Requirements of the client's locks on the servers.
struct lock_needs {
    duration lease{};
    std::size_t replicas = 0; ///< number of replicas that must confirm each grant
};

/// Returns all findings about a report, which must not be empty. `met_info` is the INFO reply of
/// the server to which the client sends its requests for locks. `met_info` is empty if the server
/// denies INFO.
std::vector<finding> judge_topology(const topology_report&, const lock_needs&,
                                    std::string_view met_info);

// Parts of judge_topology(). Each of these functions adds its findings to the list.
void judge_members(const topology_report&, std::vector<finding>&);
void judge_reach(const topology_report&, std::string_view met_info, std::vector<finding>&);
void judge_failover(const topology_report&, duration lease, std::vector<finding>&);
void judge_replicas(const topology_report&, std::size_t required, std::vector<finding>&);
void judge_clocks(const topology_report&, duration lease, std::vector<finding>&);
void judge_listeners(const topology_report&, std::vector<finding>&);

/// Adds the findings about single servers. A finding that several servers share is added only once.
void judge_each(const topology_report&, std::vector<finding>&);

/// Returns the primaries and replicas that sent a reply.
std::vector<const server_report*> servers_in(const topology_report&);

/// Returns the items as text: `a, b, c`. From a long list, returns only the first items.
std::string listed(const std::vector<std::string>&);

/// Returns a duration as text, for example `500 ms` or `19.5 s`.
std::string length_in_words(duration);

/// Examines the server (`store::examine`). Takes and releases the lock `trial` with the usual
/// requests, to test the user's permissions. Leaves no key at the server.
asio::awaitable<std::vector<finding>> examine_server(node&, const store_context&, ask trial);

} // namespace holdfast::redis
