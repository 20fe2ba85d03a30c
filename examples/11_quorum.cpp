// SPDX-License-Identifier: Apache-2.0
// One lock that is kept on five independent servers: a client has the lock if a majority of them
// has granted it. In this example, the servers are in its own memory. In production they are five
// machines.
#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <chrono>
#include <iostream>
#include <optional>

using namespace std::chrono_literals;

int main() {
    holdfast::client a{"memory:node-a"}, b{"memory:node-b"}, c{"memory:node-c"};
    holdfast::client d{"memory:node-d"}, e{"memory:node-e"};
    holdfast::quorum_mutex stock{{a, b, c, d, e}, "stock:42"};

    std::optional<holdfast::lease> held =
        stock.async_try_lock_for(10s, holdfast::asio::use_future).get();
    if (!held)
        return 1;
    const holdfast::quorum_votes votes = holdfast::quorum_mutex::votes(*held);
    std::cout << votes.held << " of " << votes.nodes << " nodes granted it; " << votes.majority
              << " are needed. It is ours for another " << held->remaining().count() << " ms.\n";
    return votes.held >= votes.majority ? 0 : 1;
}
