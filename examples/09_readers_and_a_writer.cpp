// SPDX-License-Identifier: Apache-2.0
// A reader-writer lock: many readers at the same time, or one writer alone. A reader that finds
// something to change upgrades its lock.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

int main() {
    using namespace std::chrono_literals;
    holdfast::client client{"memory:prices"};
    holdfast::shared_mutex prices{client, "prices"};
    int bread = 0;

    {
        const std::unique_lock writing{prices};
        bread = 250;
    }
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i)
        readers.emplace_back([&] {
            const std::shared_lock reading{prices, 5s};
            if (reading)
                std::cout << "bread costs " + std::to_string(bread) + "\n";
        });
    readers.clear();

    // No other writer can change the price between this check and the update.
    const std::shared_lock reading{prices};
    if (bread < 300 && prices.try_upgrade_for(5s)) {
        bread += 50;
        prices.unlock(); // keeps the shared lock, so it can still read
    }
    std::cout << "now " << bread << '\n';
    return bread == 300 ? 0 : 1;
}
