// SPDX-License-Identifier: Apache-2.0
// Base of an actor's activities with counters. It has its own dice, so that other choices keep
// their values.
#pragma once

#include "sim/ongoing.hpp"
#include "sim/plan.hpp"

#include <memory>
#include <optional>
#include <set>

namespace holdfast::sim {

class visitor {
protected:
    template <typename Counter>
    // counter object that may be destroyed while it is in use
    using disposable = std::shared_ptr<std::optional<Counter>>;

    /// `salt` must differ for each class.
    visitor(world&, seat& home, int number, const plan&, time_point end, int salt);

    template <typename Counter, typename... How>
    disposable<Counter> build(int name, How... how) {
        auto built = std::make_shared<std::optional<Counter>>();
        built->emplace(*home_.program, world::name_of(name), how...);
        return built;
    }
    /// Destroys the object soon, with a certain probability.
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
    int generation_ = 0;  ///< generation of the program when the current visit began
    std::set<int> known_; ///< names that the visitor has already visited
};

} // namespace holdfast::sim
