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

    /// Returns how many scripts were run. An EVALSHA that was answered with NOSCRIPT does not
    /// count.
    long long scripts_run() const;

    /// Returns how many requests clients sent to run a script, to subscribe or to unsubscribe,
    /// including refused ones. Commands inside scripts are not counted, and neither are the PINGs
    /// of all clients.
    long long commands_sent() const override;

    /// Returns how often a TTL was set, by scripts and without. A grant sets it too.
    long long leases_extended() const;

    std::vector<std::string> keys() const; ///< names of all keys; a key on a replica is listed once
                                           ///< more
    double cpu_seconds() const override;
    std::string version() const;

private:
    long long successes(std::initializer_list<const char*> commands) const;
    std::vector<connection> servers_;
};

} // namespace holdfast::bench
