// SPDX-License-Identifier: Apache-2.0
// A lock is busy: try once, wait a while, or hold it for a fixed time.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main() {
    // Two clients stand for two processes here. Yours would each have one, with a server's URL.
    holdfast::client alice{"memory:timed"};
    holdfast::client bob{"memory:timed"};
    holdfast::mutex of_alice{alice, "report"};
    holdfast::mutex of_bob{bob, "report"};

    of_alice.lock();

    // Busy is an answer. Only a server that cannot be asked throws.
    if (!of_bob.try_lock())
        std::cout << "Bob tried: busy.\n";
    if (!of_bob.try_lock_for(50ms))
        std::cout << "Bob waited for 50 ms: still busy.\n";

    of_alice.unlock();
    {
        const std::unique_lock held{of_bob, 2s}; // std's own: try_lock_for(2s)
        std::cout << (held.owns_lock() ? "Alice released it: Bob has it.\n" : "Busy?\n");
    }

    // A lease time: the lock ends by itself, and is not renewed. For work that must not hold
    // anybody up for longer, whatever happens.
    if (of_alice.try_lock_for(1s, holdfast::lease_time{100ms}))
        std::cout << "Alice has it for 100 ms at most.\n";
    of_bob.lock(); // no unlock by Alice is needed
    std::cout << "Her time is over: Bob has it.\n";
    of_bob.unlock();

    holdfast::error_code outcome;
    of_alice.unlock(outcome); // says what became of it
    std::cout << "Alice unlocks late and is told: "
              << (outcome == holdfast::errc::lease_lost ? "the lease was lost.\n" : "nothing?\n");
    return outcome == holdfast::errc::lease_lost ? 0 : 1;
}
