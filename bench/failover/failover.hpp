// SPDX-License-Identifier: Apache-2.0
// Measures how long callers wait when a primary fails and a replica takes its place, with holdfast
// and with Redisson.
#pragma once

#include "bench/contenders/bare.hpp"
#include "bench/contenders/other_programs.hpp"
#include "bench/contests.hpp"
#include "bench/server/server_groups.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Time of the clock that Java's System.nanoTime() reads, too.
using moment = std::chrono::steady_clock::time_point;

/// Names of two locks on the primary that will fail.
struct wanted_locks {
    std::string free; ///< lock that a call requests when the primary fails
    std::string held; ///< lock for which a waiter already waits when the primary fails
};

/// Times when the two locks were granted.
struct grants {
    moment free, held;
};

/// Two callers of one library (holdfast or Redisson) in a failover: one caller requests a free
/// lock, and the other waits for a held lock. Each caller has its own client, and repeats a call
/// that fails.
class applicants {
public:
    virtual ~applicants() = default;

    /// Prepares a failover: takes and releases the free lock once, and begins to wait for the held
    /// lock.
    virtual void prepare(const realm&, const wanted_locks&) = 0;

    virtual void ask() = 0; ///< requests the free lock now

    /// Waits until both locks are granted, and releases them. If a lock is not granted in time,
    /// returns the time at which the wait ended.
    virtual grants finish() = 0;
};

std::unique_ptr<applicants> our_applicants();
std::unique_ptr<applicants> redissons_applicants(redisson&); ///< throws `not_here`

/// Locks that are held when a primary fails. As soon as a replica is promoted, the locks are
/// released on this replica. The waiters get no notification, because no client has subscribed at
/// this server yet.
class held_locks {
public:
    /// Takes the locks on the primary without holdfast. Checks that the replicas have the locks.
    held_locks(realm&, const std::vector<int>& locks);

    void wait_until_wanted(); ///< waits until each lock's channel has a subscriber

    /// Waits until a replica reports that it is a primary. Returns the time of that report.
    moment wait_until_promoted();

    void release(); ///< releases the locks on the new primary

private:
    /// Connection to one node. Sentinels close all connections of a node that they promote, so this
    /// connection may have to be opened again.
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

/// Lets a primary fail `rounds` times, so that each time one of its replicas is promoted. Returns
/// three figures. `NAME.promoted` is the time until the promotion. The others count from the
/// promotion: `NAME.free` until a free lock is granted, `NAME.waiter` until a waiter gets a lock
/// that was released meanwhile. They are zero if the grant came before the promotion. `redissons`
/// may be null. `progress` is called before each round. Throws if anything but a lock call fails.
std::vector<figure> hold_failover(const failover&, realm&, applicants* redissons, int rounds,
                                  const std::function<void(int round)>& progress);

} // namespace holdfast::bench
