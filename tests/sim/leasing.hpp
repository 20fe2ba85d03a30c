// SPDX-License-Identifier: Apache-2.0
// Activities of an actor with a leased semaphore. It takes permits and works under their lease. It
// also gives back a permit of another holder, and changes the number of permits.
#pragma once

#include "sim/visitor.hpp"

#include <holdfast/leased_semaphore.hpp>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

class leasing : visitor {
public:
    leasing(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< takes once; must succeed

private:
    using semaphore = disposable<leased_semaphore>;

    asio::awaitable<void> take_and_work(semaphore, int name, duration usual);
    asio::awaitable<void> work(semaphore, grip&, int name);
    asio::awaitable<std::unique_ptr<grip>> acquire(leased_semaphore&, operation,
                                                   std::optional<duration> fixed, duration usual,
                                                   cancellation = {});
    asio::awaitable<void> set(leased_semaphore&, int name);
    asio::awaitable<void> change(leased_semaphore&, int name);
    asio::awaitable<void> erase_or_ask(leased_semaphore&, int name);
    asio::awaitable<void> meddle(leased_semaphore&, int name);
    std::string somebodys_permit(int name);
    void expect_ids_to_end(std::vector<std::string> seen, int name);
    duration draw_lease() {
        return dice_.between(world_.how.lease_time / 2, world_.how.lease_longest);
    }

    dice of_ids_; ///< separate dice, so that other choices keep their old values
};

} // namespace holdfast::sim
