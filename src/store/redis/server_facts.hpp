// SPDX-License-Identifier: Apache-2.0
// Judges from a server's INFO whether the server is fit for locks. No I/O.
#pragma once

#include <holdfast/diagnosis.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Facts about a server that INFO does not have.
struct server_surroundings {
    /// True if the server has replicas or is a replica. If it loses data in a restart, the other
    /// servers lose the same data.
    bool has_replicas = false;
    /// Value of appendfsync: when the append-only file is synced. Empty if unknown.
    std::string fsync{};
};

class server_facts {
public:
    /// Reads the lines of INFO that have the form `field:value`, and ignores all other lines.
    explicit server_facts(std::string_view info, server_surroundings = {});

    /// Returns the findings about version, memory, disk and clients.
    std::vector<finding> judge() const;

    /// Returns the finding about the role of the server (primary or not). Used if no other server
    /// was asked.
    finding role() const;

private:
    std::string_view text(std::string_view field) const;
    long long number(std::string_view field) const; ///< 0 if INFO does not have the field

    finding version() const;
    finding eviction() const;
    finding persistence() const;
    finding clients() const;

    std::map<std::string, std::string, std::less<>> fields_;
    const server_surroundings around_;
};

} // namespace holdfast::redis
