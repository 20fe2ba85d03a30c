// SPDX-License-Identifier: Apache-2.0
// A lock that is shared by all processes that use its name.
//
//     01_first_lock redis://127.0.0.1:6379
//
// Without a URL, the example uses a store in its own memory, so it has no competitors.
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <iostream>
#include <mutex>

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const char* const url = count > 1 ? values[1] : environment ? environment : "memory:example";

    holdfast::client client{url}; // one client for the whole process
    // One object for each lock; it contains little more than the name.
    holdfast::mutex stock{client, "stock:42"};

    const std::scoped_lock held{stock}; // waits for the lock; released at the end of the scope
    std::cout << "Nobody else has the lock stock:42 now.\n";
}
