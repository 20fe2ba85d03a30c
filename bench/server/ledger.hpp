// SPDX-License-Identifier: Apache-2.0
// Statistics of a server: they count what the server did, so that a contender that does nothing
// cannot look fast.
#pragma once

#include <string>

namespace holdfast::bench {

/// Number of scripts that a server must have run if the counts of a contender are true. On
/// ZooKeeper, the number of writes; on MariaDB, of UPDATEs.
struct claim {
    long long least, most;
};

class ledger {
public:
    virtual ~ledger() = default;

    virtual void clear() = 0; ///< sets the counts to zero

    /// Returns in words why the claim cannot be true, or which keys were left behind. Empty if all
    /// is well.
    virtual std::string trouble_with(const claim&) const = 0;

    virtual long long commands_sent() const = 0;
    virtual double cpu_seconds() const = 0;

protected:
    ledger() = default;
    ledger(ledger&&) = default;
    ledger& operator=(ledger&&) = default;
};

} // namespace holdfast::bench
