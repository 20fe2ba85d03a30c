// SPDX-License-Identifier: Apache-2.0
// What an actor does with names that are no locks: takes and releases permits, closes latches,
// counts them down, and waits for them.
#pragma once

#include "sim/ongoing.hpp"
#include "sim/plan.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>

#include <memory>
#include <optional>
#include <set>

namespace holdfast::sim {

class counting {
public:
    counting(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< it must be possible

private:
    template <typename Counter>
    using disposable = std::shared_ptr<std::optional<Counter>>; // it may be destroyed in use
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

    template <typename Counter>
    disposable<Counter> build(int name);
    operation deed_on(int name, deed, std::int64_t amount = 0) const;
    operation patiently(operation);
    cancellation draw_cancellation();
    std::int64_t draw_amount() { return dice_.between(1, plan_.people.amount); }
    std::int64_t draw_addition() { return dice_.one_of({1, 1, 2, -1}); }
    asio::awaitable<void> nap(duration);
    asio::awaitable<void> nap_if_closed();

    world& world_;
    seat& home_;
    const int number_;
    const plan& plan_;
    const time_point end_;
    dice dice_;
    int generation_ = 0;  ///< of the program with which the present visit began
    std::set<int> known_; ///< names that it has been at
};

} // namespace holdfast::sim
