// SPDX-License-Identifier: Apache-2.0
// The books of a Redis server.
#pragma once

#include "bench/server/connection.hpp"
#include "bench/server/ledger.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Of one server, or of several as if they were one.
class accounts final : public ledger {
public:
    explicit accounts(connection to) { servers_.push_back(std::move(to)); }
    explicit accounts(std::vector<connection> to)
        : servers_{std::move(to)} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;

    /// Scripts that were carried out; an EVALSHA answered with NOSCRIPT was not.
    long long scripts_run() const;

    /// Requests of clients to run a script, to listen or to listen no more, refused ones too. What
    /// scripts do is not counted, nor what everybody sends now and then (PING).
    long long commands_sent() const override;

    /// By scripts and without: granting a lock does it too.
    long long leases_extended() const;

    std::vector<std::string> keys() const; ///< their names, at a replica once more
    double cpu_seconds() const override;
    std::string version() const;

private:
    long long successes(std::initializer_list<const char*> commands) const;
    std::vector<connection> servers_;
};

} // namespace holdfast::bench
