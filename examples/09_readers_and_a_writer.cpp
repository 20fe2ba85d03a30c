// SPDX-License-Identifier: Apache-2.0
// Many read at once, one writes alone; and a reader that finds something to change upgrades.
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

    // Nobody changes it between what is read here and what is written.
    const std::shared_lock reading{prices};
    if (bread < 300 && prices.try_upgrade_for(5s)) {
        bread += 50;
        prices.unlock(); // and goes on reading
    }
    std::cout << "now " << bread << '\n';
    return bread == 300 ? 0 : 1;
}
