// SPDX-License-Identifier: Apache-2.0
// Statistics of a Redis server.
#pragma once

#include "bench/server/connection.hpp"
#include "bench/server/ledger.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Statistics of one server, or the sum over several servers.
class accounts final : public ledger {
public:
    explicit accounts(connection to) { servers_.push_back(std::move(to)); }
    explicit accounts(std::vector<connection> to)
        : servers_{std::move(to)} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;

    /// Returns how many scripts were run. A script that the server did not have (NOSCRIPT) does not
    /// count.
    long long scripts_run() const;

    /// Returns the number of requests to run a script, to subscribe or to unsubscribe, including
    /// refused requests. Commands inside scripts and PINGs do not count.
    long long commands_sent() const override;

    /// Returns how often a TTL was set, inside and outside scripts. A grant sets a TTL too.
    long long leases_extended() const;

    /// Returns the names of all keys. A key with a copy on a replica is listed twice.
    std::vector<std::string> keys() const;
    double cpu_seconds() const override;
    std::string version() const;

private:
    long long successes(std::initializer_list<const char*> commands) const;
    std::vector<connection> servers_;
};

} // namespace holdfast::bench
