// SPDX-License-Identifier: Apache-2.0
// Two seats for workers, in whichever process; the seat of one that dies is free again when its
// lease has ended. Set HOLDFAST_URL to your server; without it, this example counts in its own
// memory.
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <iostream>
#include <optional>

using namespace std::chrono_literals;

namespace {

/// Stops by itself when its seat is no longer its own.
bool work(const std::stop_token& lost) {
    return !lost.stop_requested();
}

} // namespace

int main() {
    const char* const given = std::getenv("HOLDFAST_URL");
    holdfast::client client{given != nullptr ? given : "memory:example"};
    holdfast::leased_semaphore seats{client, "seats"};
    seats.try_set_permits(2); // whoever comes first; the others find them there

    std::optional<holdfast::lease> first = seats.try_acquire_for(10s);
    // Not renewed: what a program that died here would leave behind.
    const std::optional<holdfast::lease> second = seats.try_acquire(holdfast::lease_time{50ms});
    if (!first || !second) {
        std::cerr << "somebody else sits here\n";
        return 1;
    }
    std::cout << "Seats taken: " << seats.acquired_permits() << " of 2.\n";

    const holdfast::lease third = seats.acquire(); // waits for the end of the second's lease
    const bool worked = work(first->lost()) && work(third.lost());
    first->unlock();
    std::cout << "The third sat down when the second's lease had ended.\n";
    return worked && second->lost().stop_requested() ? 0 : 1;
}
