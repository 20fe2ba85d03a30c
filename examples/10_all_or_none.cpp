// SPDX-License-Identifier: Apache-2.0
// How to take several locks of different types as if they were one lock, with one timeout and one
// lease. The caller gets all of the locks or none.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main() {
    holdfast::client client{"memory:all-or-none"};
    holdfast::mutex from{client, "account:7"};
    holdfast::fair_mutex to{client, "account:8"};
    holdfast::multi_mutex both{from, to};

    {
        const std::scoped_lock guard{both};
        std::cout << "Both accounts are ours: " << from.is_locked() << to.is_locked() << "\n";
    }

    // Another client holds one of the locks, so we get none of them.
    holdfast::client other{"memory:all-or-none"};
    holdfast::mutex taken{other, "account:7"};
    const std::scoped_lock somebody{taken};
    const bool got = both.try_lock_for(100ms);
    std::cout << "With one of them busy: " << (got ? "got both" : "got none") << ".\n";
    return !got && !to.is_locked() ? 0 : 1;
}
