// SPDX-License-Identifier: Apache-2.0
// How to allow at most three calls of a service in any 60 ms, in all processes together. Set
// HOLDFAST_URL to your server. Without it, the example uses a store in its own memory.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

int main() {
    const char* const given = std::getenv("HOLDFAST_URL");
    holdfast::client client{given != nullptr ? given : "memory:example"};
    holdfast::rate_limiter calls{client, "service-calls"};
    calls.try_set_rate({.permits = 3, .per = 60ms}); // only the first process sets the rate

    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 7; ++i)
        calls.acquire(); // then call the service
    const auto taken = std::chrono::steady_clock::now() - begin;
    std::cout << "7 calls, at most 3 in any 60 ms: they took "
              << std::chrono::duration_cast<std::chrono::milliseconds>(taken).count() << " ms.\n";

    return taken >= 115ms ? 0 : 1; // the seventh call had to wait for two intervals
}
