// SPDX-License-Identifier: Apache-2.0
// A lock that survives a failover. A replica has confirmed the lock, so the lock is still held when
// that replica takes over. This example has the servers in its own memory. In production, the
// client has a URL such as
//
//     redis+sentinel://sentinel-a,sentinel-b,sentinel-c/orders?required_replicas=1
//
// and the Sentinels promote the replica. docs/topologies.md says what this costs.
#include <holdfast/holdfast.hpp>
#include <holdfast/memory/server.hpp>

#include <iostream>

using namespace std::chrono_literals;

int main() {
    holdfast::memory::server servers;
    servers.replicate(1, 2ms); // the replica gets each write two milliseconds later

    holdfast::options how;
    how.store = servers.connect();
    how.required_replicas = 1;
    holdfast::client ours{how};
    how.required_replicas = 0; // the other client need not require replicas
    holdfast::client others{how};

    holdfast::mutex stock{ours, "stock:42"};
    stock.lock(); // returns after the replica has confirmed the lock
    servers.stop(0);
    servers.promote(1);

    holdfast::mutex theirs{others, "stock:42"};
    const bool twice = theirs.try_lock();
    std::cout << "After the failover the lock is "
              << (stock.is_held_by_this_thread() ? "still ours" : "lost") << ", and somebody else "
              << (twice ? "has it, too" : "does not get it") << ".\n";
    stock.unlock();
    return twice ? 1 : 0;
}
