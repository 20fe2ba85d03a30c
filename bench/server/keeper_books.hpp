// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/ledger.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::bench {

/// Statistics of a ZooKeeper server. Each write of a client is a transaction with a number. The
/// count may include heartbeats.
class keeper_books final : public ledger {
public:
    explicit keeper_books(const support::zookeeper_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    long long commands_sent() const override; ///< requests of all clients, including pings
    double cpu_seconds() const override;

private:
    long long transactions() const;
    long long figure(const std::string& name) const;

    const support::zookeeper_server& server_;
    long long transactions_before_ = 0;
};

} // namespace holdfast::bench
