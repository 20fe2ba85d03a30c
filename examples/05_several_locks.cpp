// SPDX-License-Identifier: Apache-2.0
// How to take two locks together, in any order and without deadlock, by std::lock or
// std::scoped_lock.
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

    // The two threads name the locks in opposite order. If each thread simply locked one after the
    // other, both would sooner or later hold one lock and wait for the other. std::scoped_lock
    // avoids this: it releases and tries again.
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

    // std::lock takes both locks too, without a guard object.
    std::lock(alice, bob);
    std::cout << "Alice has " << of_alice << ", Bob has " << of_bob << "; nothing is missing.\n";
    alice.unlock();
    bob.unlock();
    return of_alice == 800 && of_bob == 1200 ? 0 : 1;
}
