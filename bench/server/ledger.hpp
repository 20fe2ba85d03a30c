// SPDX-License-Identifier: Apache-2.0
// A server's own books: what it did, so that a contender that does nothing cannot look fast.
#pragma once

#include <string>

namespace holdfast::bench {

/// How many scripts a server must have carried out if a tally is true; of ZooKeeper: how many
/// writes; of MariaDB: how many UPDATEs.
struct claim {
    long long least, most;
};

class ledger {
public:
    virtual ~ledger() = default;

    virtual void clear() = 0; ///< the counts start anew

    /// What of that cannot be true, in words, and what was left behind. Empty: all is as it should
    /// be.
    virtual std::string trouble_with(const claim&) const = 0;

    virtual long long commands_sent() const = 0;
    virtual double cpu_seconds() const = 0;

protected:
    ledger() = default;
    ledger(ledger&&) = default;
    ledger& operator=(ledger&&) = default;
};

} // namespace holdfast::bench
