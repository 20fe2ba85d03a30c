// SPDX-License-Identifier: Apache-2.0
// How to allow at most two workers at a time, in all processes together. Each needs a seat. If a
// worker dies, its seat is free again when the lease has expired. Set HOLDFAST_URL to your server.
// Without it, the example uses a store in its own memory.
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <iostream>
#include <optional>

using namespace std::chrono_literals;

namespace {

/// Works until the seat is lost.
bool work(const std::stop_token& lost) {
    return !lost.stop_requested();
}

} // namespace

int main() {
    const char* const given = std::getenv("HOLDFAST_URL");
    holdfast::client client{given != nullptr ? given : "memory:example"};
    holdfast::leased_semaphore seats{client, "seats"};
    seats.try_set_permits(2); // only the first process sets the number

    std::optional<holdfast::lease> first = seats.try_acquire_for(10s);
    // This lease is not renewed, like the lease of a program that died.
    const std::optional<holdfast::lease> second = seats.try_acquire(holdfast::lease_time{50ms});
    if (!first || !second) {
        std::cerr << "somebody else sits here\n";
        return 1;
    }
    std::cout << "Seats taken: " << seats.acquired_permits() << " of 2.\n";

    const holdfast::lease third = seats.acquire(); // waits until the second lease has expired
    const bool worked = work(first->lost()) && work(third.lost());
    first->unlock();
    std::cout << "The third sat down when the second's lease had ended.\n";
    return worked && second->lost().stop_requested() ? 0 : 1;
}
