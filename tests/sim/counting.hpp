// SPDX-License-Identifier: Apache-2.0
// Activities of an actor with counters: takes and releases permits, sets latches, counts them down,
// and waits for them.
#pragma once

#include "sim/drawing.hpp"
#include "sim/leasing.hpp"
#include "sim/visitor.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>

namespace holdfast::sim {

class counting : visitor {
public:
    counting(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< takes once; must succeed

private:
    using semaphore = disposable<counting_semaphore>;
    using gateway = disposable<latch>;

    asio::awaitable<void> visit_semaphore(int name);
    asio::awaitable<void> visit_latch(int name);
    asio::awaitable<void> take_and_release(semaphore, int name);
    asio::awaitable<void> drain(semaphore, int name);
    asio::awaitable<void> give(semaphore, int name, std::int64_t amount, bool if_there);
    asio::awaitable<void> wait(gateway, int name);

    asio::awaitable<outcome> acquire(counting_semaphore&, operation, cancellation = {});
    asio::awaitable<outcome> release(counting_semaphore&, operation, bool if_there);
    asio::awaitable<outcome> add(counting_semaphore&, operation);
    asio::awaitable<outcome> set(counting_semaphore&, operation, duration kept = {});
    asio::awaitable<outcome> set(latch&, operation);
    asio::awaitable<outcome> count_down(latch&, operation);
    asio::awaitable<outcome> wait(latch&, operation, cancellation = {});
    template <typename Counter>
    asio::awaitable<void> erase_or_ask(Counter&, int name);

    std::int64_t draw_addition() { return dice_.one_of({1, 1, 2, -1}); }

    leasing leases_;
    drawing draws_;
};

} // namespace holdfast::sim
