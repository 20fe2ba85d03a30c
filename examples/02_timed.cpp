// SPDX-License-Identifier: Apache-2.0
// What to do if a lock is busy: try once, wait with a timeout, or use a fixed lease time.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main() {
    // The two clients here stand for two processes. Each of your processes would have one client,
    // with a server's URL.
    holdfast::client alice{"memory:timed"};
    holdfast::client bob{"memory:timed"};
    holdfast::mutex of_alice{alice, "report"};
    holdfast::mutex of_bob{bob, "report"};

    of_alice.lock();

    // A busy lock is not an error. The call throws only if the client cannot reach the server.
    if (!of_bob.try_lock())
        std::cout << "Bob tried: busy.\n";
    if (!of_bob.try_lock_for(50ms))
        std::cout << "Bob waited for 50 ms: still busy.\n";

    of_alice.unlock();
    {
        const std::unique_lock held{of_bob, 2s}; // std::unique_lock calls try_lock_for(2s)
        std::cout << (held.owns_lock() ? "Alice released it: Bob has it.\n" : "Busy?\n");
    }

    // With a lease time, the lock ends by itself and is not renewed. Use this if your work must
    // never delay others for longer.
    if (of_alice.try_lock_for(1s, holdfast::lease_time{100ms}))
        std::cout << "Alice has it for 100 ms at most.\n";
    of_bob.lock(); // Alice does not need to unlock
    std::cout << "Her time is over: Bob has it.\n";
    of_bob.unlock();

    holdfast::error_code outcome;
    of_alice.unlock(outcome); // `outcome` says whether the lease was lost
    std::cout << "Alice unlocks late and is told: "
              << (outcome == holdfast::errc::lease_lost ? "the lease was lost.\n" : "nothing?\n");
    return outcome == holdfast::errc::lease_lost ? 0 : 1;
}
