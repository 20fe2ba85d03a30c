// SPDX-License-Identifier: Apache-2.0
// Faults of a world during its safety phase, except faults of single requests.
#pragma once

#include "sim/plan.hpp"

#include <string>
#include <vector>

namespace holdfast::sim {

class fortune {
public:
    fortune(world&, const plan&, time_point end);

    void begin();                      ///< starts all faults of the plan; they run until `end`
    void heal();                       ///< ends all faults
    void rest() { restless_ = false; } ///< stops replacing the permits of dead clients

private:
    asio::awaitable<void> cut(seat&, dice);
    asio::awaitable<void> replace(seat&, dice);
    asio::awaitable<void> silence(seat&, dice);
    asio::awaitable<void> deny(seat&, dice);
    asio::awaitable<void> occupy(dice);
    asio::awaitable<void> send_strangers(dice);
    asio::awaitable<void> live_as_stranger(int name, std::string owner, dice);
    void bury_strangers();
    void count_as_stranger(int name, dice&);
    asio::awaitable<void> keep_counters_useful();
    asio::awaitable<void> reconnect(seat&, duration takes);
    asio::awaitable<void> trouble_server(dice);
    bool over() const { return world_.clock.now() >= end_; }
    asio::awaitable<void> pause(dice&, duration usual);

    world& world_;
    const plan& plan_;
    const time_point end_;
    struct dead_stranger {
        int name;
        std::string owner;
        duration wait;
    };
    std::vector<dead_stranger> dead_;
    bool restless_ = true;
};

/// Ends the program of a seat: calls `close` and then destroys the program, as its user would.
asio::awaitable<void> close_program(world&, seat&);

} // namespace holdfast::sim
