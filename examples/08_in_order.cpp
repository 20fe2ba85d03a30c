// SPDX-License-Identifier: Apache-2.0
// A fair lock: waiters are served in the order of their arrival, in whatever process they are.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    // The two clients here stand for two processes. Each of your processes would have one client,
    // with a server's URL.
    holdfast::client left{"memory:desk"};
    holdfast::client right{"memory:desk"};

    holdfast::fair_mutex desk{left, "desk"};
    desk.lock(); // a customer is being served

    std::vector<std::jthread> line;
    for (int number = 1; number <= 4; ++number) {
        line.emplace_back([&, number] {
            holdfast::fair_mutex mine{number % 2 == 0 ? left : right, "desk"};
            const std::scoped_lock served{mine};
            std::cout << "Number " << number << " is served.\n";
        });
        std::this_thread::sleep_for(50ms); // the next customer arrives a little later
    }

    // try_lock() takes no place in the queue, and overtakes nobody.
    holdfast::fair_mutex in_a_hurry{right, "desk"};
    if (!in_a_hurry.try_lock())
        std::cout << "Somebody in a hurry finds it busy.\n";

    desk.unlock();
}
