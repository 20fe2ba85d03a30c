// SPDX-License-Identifier: Apache-2.0
// Interface of a server's statistics (`ledger`). They prove that the server did the work, so that a
// contender that does nothing cannot look fast.
#pragma once

#include <string>

namespace holdfast::bench {

/// Limits for the number of scripts that a server has run. They follow from the number of
/// operations that a contender reports. On ZooKeeper they limit the writes, and on MariaDB the
/// UPDATEs.
struct claim {
    long long least, most;
};

class ledger {
public:
    virtual ~ledger() = default;

    virtual void clear() = 0; ///< resets all counts to zero

    /// Returns why the server's counts contradict the claim, or which keys were left behind. Empty
    /// if there is no problem.
    virtual std::string trouble_with(const claim&) const = 0;

    virtual long long commands_sent() const = 0;
    virtual double cpu_seconds() const = 0;

protected:
    ledger() = default;
    ledger(ledger&&) = default;
    ledger& operator=(ledger&&) = default;
};

} // namespace holdfast::bench
