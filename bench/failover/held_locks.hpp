// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/requests.hpp"
#include "bench/failover/applicants.hpp"

#include <vector>

namespace holdfast::bench {

/// Locks that are held while a primary fails. They are released on the new primary as soon as it is
/// promoted. No client has subscribed there yet, so the waiters get no notification.
class held_locks {
public:
    /// Takes the locks on the primary, over bare connections. Checks that the replicas have the
    /// locks.
    held_locks(realm&, const std::vector<int>& locks);

    void wait_until_wanted(); ///< waits until each lock's channel has a subscriber

    /// Waits until a replica reports that it is a primary. Returns the time of that report.
    moment wait_until_promoted();

    void release(); ///< releases the locks on the new primary

private:
    /// Connection to one node. It may have to be opened again, because Sentinels close all
    /// connections of a node that they promote.
    struct way {
        std::uint16_t port;
        connection to;
    };
    static bool is_primary(way&);
    static bool takes(way&, const std::string& release);
    bool is_wanted(const requests&) const;

    realm& servers_;
    std::vector<way> all_; // the connection to the primary is first
    std::vector<requests> holds_;
    way* promoted_ = nullptr;
};

} // namespace holdfast::bench
