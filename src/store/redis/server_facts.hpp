// SPDX-License-Identifier: Apache-2.0
// What a server's INFO means for locks. No I/O.
#pragma once

#include <holdfast/diagnosis.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// What INFO does not say.
struct server_surroundings {
    bool has_replicas = false; ///< or is one: what it loses when it restarts is lost at others, too
    std::string fsync{};       ///< when its append-only file is written; empty: not known
};

class server_facts {
public:
    /// Lines of `field:value`; whatever else there is, is not looked at.
    explicit server_facts(std::string_view info, server_surroundings = {});

    /// Of its version, memory, disk and clients.
    std::vector<finding> judge() const;

    /// Whether it is one that grants locks, where nobody else was asked.
    finding role() const;

private:
    std::string_view text(std::string_view field) const;
    long long number(std::string_view field) const; ///< 0: it does not say

    finding version() const;
    finding eviction() const;
    finding persistence() const;
    finding clients() const;

    std::map<std::string, std::string, std::less<>> fields_;
    const server_surroundings around_;
};

} // namespace holdfast::redis
