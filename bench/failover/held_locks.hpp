// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/requests.hpp"
#include "bench/failover/applicants.hpp"

#include <vector>

namespace holdfast::bench {

/// Locks that somebody holds while a primary fails, and releases at the new one as soon as there
/// is one: nobody listens there yet, so who waits is not told.
class held_locks {
public:
    /// Takes them at the primary, on bare connections, and sees that its replicas have them.
    held_locks(realm&, const std::vector<int>& locks);

    void wait_until_wanted(); ///< somebody listens for the release of each

    /// Until one of the replicas says that it is a primary; since when it is.
    moment wait_until_promoted();

    void release(); ///< at that one

private:
    /// Sentinels have all connections of the one that they promote ended.
    struct way {
        std::uint16_t port;
        connection to;
    };
    static bool is_primary(way&);
    static bool takes(way&, const std::string& release);
    bool is_wanted(const requests&) const;

    realm& servers_;
    std::vector<way> all_; // the primary's first
    std::vector<requests> holds_;
    way* promoted_ = nullptr;
};

} // namespace holdfast::bench
