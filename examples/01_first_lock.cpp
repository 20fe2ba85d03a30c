// SPDX-License-Identifier: Apache-2.0
// A lock that every process with its name shares.
//
//     01_first_lock redis://127.0.0.1:6379
//
// Without an address it uses a store in its own memory, where it is alone.
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <iostream>
#include <mutex>

int main(int count, char** values) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    const char* const url = count > 1 ? values[1] : environment ? environment : "memory:example";

    holdfast::client client{url};              // one for the whole process
    holdfast::mutex stock{client, "stock:42"}; // one for each lock: a name, nothing more

    const std::scoped_lock held{stock}; // waits until it is ours; released at the end of the scope
    std::cout << "Nobody else has the lock stock:42 now.\n";
}
