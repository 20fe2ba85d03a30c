// SPDX-License-Identifier: Apache-2.0
// How to allow at most two downloads at a time, in all processes together. Set HOLDFAST_URL to your
// server. Without it, the example uses a store in its own memory.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    const char* const given = std::getenv("HOLDFAST_URL");
    holdfast::client client{given != nullptr ? given : "memory:example"};
    holdfast::counting_semaphore slots{client, "download-slots", {.most = 2}};
    slots.try_set_permits(2); // only the first process sets the number

    std::atomic<int> at_work = 0, most = 0;
    {
        std::vector<std::jthread> downloads;
        for (int i = 0; i < 6; ++i)
            downloads.emplace_back([&] {
                slots.acquire();
                const int now = ++at_work;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                std::this_thread::sleep_for(5ms);
                --at_work;
                // A process that dies before this line never returns its permit; see example 14.
                slots.release();
            });
    }
    std::cout << "6 downloads, " << most << " at a time at most; " << slots.available_permits()
              << " permits are there again.\n";
    slots.erase();
    return most <= 2 ? 0 : 1;
}
