// SPDX-License-Identifier: Apache-2.0
// Faults of a world of several servers during its safety phase, except faults of single requests.
#pragma once

#include "sim/several/script.hpp"

namespace holdfast::sim::several {

class trouble {
public:
    trouble(realm&, const script&, time_point end);

    void begin(); ///< starts all faults of the script; they run until `end`
    void heal();  ///< ends all faults

private:
    asio::awaitable<void> cut(terminal&, dice);
    asio::awaitable<void> replace(int program, dice);
    asio::awaitable<void> occupy(dice);
    asio::awaitable<void> restart(dice);
    asio::awaitable<void> evict(dice);
    asio::awaitable<void> step(dice);
    asio::awaitable<void> pause(dice&, duration usual);
    bool over() const { return realm_.clock.now() >= end_; }
    int any_server(dice& d) const { return d.between(0, realm_.servers() - 1); }
    spot any_spot(dice& d) const { return {any_server(d), d.between(0, realm_.names() - 1)}; }

    realm& realm_;
    const script& plan_;
    const time_point end_;
};

} // namespace holdfast::sim::several
