// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/accounts.hpp"
#include "bench/server/server.hpp"

#include <cstddef>
#include <deque>

namespace holdfast::bench {

/// Additional servers for locks on several servers. A server is started at its first use. It runs
/// until the end of the benchmark, because a JVM that is connected to it would otherwise report
/// errors.
class more_servers {
public:
    const server& at(std::size_t which) {
        while (all_.size() <= which)
            all_.emplace_back();
        return all_[which];
    }

    double cpu_seconds() const {
        double sum = 0;
        for (const server& each : all_)
            sum += accounts{each.connect(transport::unix_socket)}.cpu_seconds();
        return sum;
    }

private:
    std::deque<server> all_; // a deque does not move its elements
};

} // namespace holdfast::bench
