// SPDX-License-Identifier: Apache-2.0
// Two locks at once, in any order, without deadlock: std::lock and std::scoped_lock know how.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <mutex>
#include <thread>

int main() {
    holdfast::client client{"memory:several"};
    holdfast::mutex alice{client, "account:alice"};
    holdfast::mutex bob{client, "account:bob"};
    int of_alice = 1000;
    int of_bob = 1000;

    // These two name the locks in opposite order. Locking one after the other would sooner or
    // later leave each with one lock, waiting for the other's; std::scoped_lock backs off.
    std::jthread paying{[&] {
        for (int i = 0; i < 100; ++i) {
            const std::scoped_lock both{alice, bob};
            of_alice -= 3;
            of_bob += 3;
        }
    }};
    std::jthread paying_back{[&] {
        for (int i = 0; i < 100; ++i) {
            const std::scoped_lock both{bob, alice};
            of_bob -= 1;
            of_alice += 1;
        }
    }};
    paying.join();
    paying_back.join();

    // The same without a scope of its own.
    std::lock(alice, bob);
    std::cout << "Alice has " << of_alice << ", Bob has " << of_bob << "; nothing is missing.\n";
    alice.unlock();
    bob.unlock();
    return of_alice == 800 && of_bob == 1200 ? 0 : 1;
}
