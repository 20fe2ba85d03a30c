// SPDX-License-Identifier: Apache-2.0
// Activities of a simulated program with counters: semaphores, latches, leased permits and rate
// limiters.
#pragma once

#include "sim/ongoing.hpp"
#include "sim/plan.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sim {

/// Base of an actor's activities with counters. Its own dice leave the random choices of other
/// activities unchanged.
class visitor {
protected:
    template <typename Counter>
    // counter object that an actor may destroy while it is in use
    using disposable = std::shared_ptr<std::optional<Counter>>;

    /// `salt` must differ for each class.
    visitor(world&, seat& home, int number, const plan&, time_point end, int salt);

    template <typename Counter, typename... How>
    disposable<Counter> build(int name, How... how) {
        auto built = std::make_shared<std::optional<Counter>>();
        built->emplace(*home_.program, world::name_of(name), how...);
        return built;
    }
    /// By chance, destroys the object soon.
    template <typename Counter>
    void throw_away_perhaps(const disposable<Counter>& built) {
        if (!dice_.percent(plan_.people.throws_away))
            return;
        const auto steps = static_cast<std::size_t>(dice_.between(1, 20));
        world_.after_steps(steps, [built] { built->reset(); });
    }
    operation deed_on(int name, deed, std::int64_t amount = 0) const;
    operation patiently(operation);
    cancellation draw_cancellation();
    std::int64_t draw_amount() { return dice_.between(1, plan_.people.amount); }
    asio::awaitable<void> nap(duration);
    asio::awaitable<void> nap_if_closed();

    world& world_;
    seat& home_;
    const int number_;
    const plan& plan_;
    const time_point end_;
    dice dice_;
    int generation_ = 0;  ///< generation of the program at the start of the current visit
    std::set<int> known_; ///< names that were visited before
};

/// Activities of an actor with a leased semaphore: takes permits, gives back a permit of another
/// holder, and changes the number of permits.
class leasing : visitor {
public:
    leasing(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< must succeed within `bound`

private:
    using semaphore = disposable<leased_semaphore>;

    asio::awaitable<void> take_and_work(semaphore, int name, duration usual);
    asio::awaitable<void> work(semaphore, grip&, int generation, int name);
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

    dice of_ids_; ///< own dice, so that old seeds keep their meaning
};

/// Activities of an actor with a rate limiter: draws permits, sometimes gives them back, and sets
/// new rates.
class drawing : visitor {
public:
    drawing(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< must succeed within `bound`

private:
    asio::awaitable<outcome> draw(rate_limiter&, operation, cancellation = {});
    asio::awaitable<outcome> set(rate_limiter&, operation, rate, bool anew);
    asio::awaitable<void> give(rate_limiter&, int name);
    asio::awaitable<void> erase_or_ask(rate_limiter&, int name);
    rate draw_rate(int name);
};

/// Activities of an actor with semaphores and latches: takes and releases permits, sets latches,
/// counts them down, and waits for them.
class counting : visitor {
public:
    counting(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> visit(int name);
    asio::awaitable<void> take_once(int name, duration bound); ///< must succeed within `bound`

private:
    using semaphore = disposable<counting_semaphore>;
    using gateway = disposable<latch>;

    asio::awaitable<void> visit_semaphore(int name);
    asio::awaitable<void> visit_latch(int name);
    asio::awaitable<void> take_and_release(semaphore, int name);
    asio::awaitable<void> drain(semaphore, int name);
    asio::awaitable<void> give(semaphore, int generation, int name, std::int64_t amount,
                               bool if_there);
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
