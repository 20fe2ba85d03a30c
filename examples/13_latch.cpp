// SPDX-License-Identifier: Apache-2.0
// Three workers prepare their work, and no worker starts before all are ready. Each worker can be a
// separate process. Set HOLDFAST_URL to your server. Without it, the example uses a store in its
// own memory.
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
    holdfast::latch ready{client, "workers-ready"};
    if (!ready.try_set_count(3)) // a latch that was never set is open
        return 1;

    std::atomic<int> prepared = 0, too_early = 0;
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i)
            workers.emplace_back([&] {
                ++prepared;
                ready.arrive_and_wait();
                if (prepared < 3)
                    ++too_early;
            });
        if (!ready.wait_for(10s)) {
            std::cerr << "they are not ready after ten seconds\n";
            return 1;
        }
    }
    std::cout << prepared << " workers were ready before any of them began.\n";
    return too_early == 0 ? 0 : 1;
}
