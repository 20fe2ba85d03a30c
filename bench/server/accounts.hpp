// SPDX-License-Identifier: Apache-2.0
// The server's own books: what it did, so that a contender that does nothing cannot look fast.
#pragma once

#include "bench/server/connection.hpp"

#include <string>

namespace holdfast::bench {

class accounts {
public:
    explicit accounts(connection to)
        : server_{std::move(to)} {}

    void clear(); ///< the counts start anew

    /// Scripts that were carried out; an EVALSHA answered with NOSCRIPT was not.
    long long scripts_run() const;

    /// Requests of clients to run a script, to listen or to listen no more, refused ones too. What
    /// scripts do is not counted, nor what everybody sends now and then (PING).
    long long commands_sent() const;

    /// By scripts and without: granting a lock does it too.
    long long leases_extended() const;

    long long keys() const;
    std::string any_key() const; ///< the name of one of them
    double cpu_seconds() const;
    std::string version() const;

private:
    std::string info(const char* section) const;
    connection server_;
};

} // namespace holdfast::bench
