// SPDX-License-Identifier: Apache-2.0
// Findings from a server's INFO about its fitness for locks. No I/O.
#pragma once

#include <holdfast/diagnosis.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Facts that INFO does not have.
struct server_surroundings {
    /// True if the server has replicas or is one. Data that it loses in a restart is then lost at
    /// the other servers too.
    bool has_replicas = false;
    /// When the append-only file is synced (appendfsync); empty: unknown.
    std::string fsync{};
};

class server_facts {
public:
    /// Reads the lines `field:value` of INFO, and ignores all others.
    explicit server_facts(std::string_view info, server_surroundings = {});

    /// Returns the findings about version, memory, disk and clients.
    std::vector<finding> judge() const;

    /// Returns the finding whether the server is a primary, if no other server was asked.
    finding role() const;

private:
    std::string_view text(std::string_view field) const;
    long long number(std::string_view field) const; ///< 0: INFO does not have the field

    finding version() const;
    finding eviction() const;
    finding persistence() const;
    finding clients() const;

    std::map<std::string, std::string, std::less<>> fields_;
    const server_surroundings around_;
};

} // namespace holdfast::redis
