// SPDX-License-Identifier: Apache-2.0
// What a server's INFO means for locks. No I/O.
#pragma once

#include <holdfast/diagnosis.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class server_facts {
public:
    /// Lines of `field:value`; whatever else there is, is not looked at.
    explicit server_facts(std::string_view info);

    /// Of its version, memory, disk, replicas and clients.
    std::vector<finding> judge() const;

private:
    std::string_view text(std::string_view field) const;
    long long number(std::string_view field) const; ///< 0: it does not say

    finding version() const;
    finding eviction() const;
    finding persistence() const;
    finding replication() const;
    finding clients() const;

    std::map<std::string, std::string, std::less<>> fields_;
};

} // namespace holdfast::redis
