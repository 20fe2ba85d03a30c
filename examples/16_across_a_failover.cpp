// SPDX-License-Identifier: Apache-2.0
// A lock that a replica has confirmed is still held when that replica takes over. The servers of
// this example are in its memory; in earnest the client is made of an address such as
//
//     redis+sentinel://sentinel-a,sentinel-b,sentinel-c/orders?required_replicas=1
//
// and the Sentinels promote. docs/topologies.md says what that costs.
#include <holdfast/holdfast.hpp>
#include <holdfast/memory/server.hpp>

#include <iostream>

using namespace std::chrono_literals;

int main() {
    holdfast::memory::server servers;
    servers.replicate(1, 2ms); // the replica has all that is written two milliseconds later

    holdfast::options how;
    how.store = servers.connect();
    how.required_replicas = 1;
    holdfast::client ours{how};
    how.required_replicas = 0; // the others' promise is their own affair
    holdfast::client others{how};

    holdfast::mutex stock{ours, "stock:42"};
    stock.lock(); // returns when the replica has it, too
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
