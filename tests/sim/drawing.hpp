// SPDX-License-Identifier: Apache-2.0
// Activities of an actor with a rate limiter: it draws permits, seldom gives them back, and sets
// new rates.
#pragma once

#include "sim/visitor.hpp"

#include <holdfast/rate_limiter.hpp>

namespace holdfast::sim {

class drawing : visitor {
public:
    drawing(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< takes once; must succeed

private:
    asio::awaitable<outcome> draw(rate_limiter&, operation, cancellation = {});
    asio::awaitable<outcome> set(rate_limiter&, operation, rate, bool anew);
    asio::awaitable<void> give(rate_limiter&, int name);
    asio::awaitable<void> erase_or_ask(rate_limiter&, int name);
    rate draw_rate(int name);
};

} // namespace holdfast::sim
