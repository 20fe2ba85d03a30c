// SPDX-License-Identifier: Apache-2.0
// Coroutine of a simulated program that takes locks and does with them what users may do.
#pragma once

#include "sim/counting.hpp"
#include "sim/door.hpp"
#include "sim/ongoing.hpp"
#include "sim/plan.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>

namespace holdfast::sim {

class actor {
public:
    actor(world&, seat& home, int number, const plan&, time_point end);

    asio::awaitable<void> live(); ///< runs until the time `end`
    /// takes every lock once; each call must succeed within `bound`
    asio::awaitable<void> take_each(duration bound);
    int client() const { return home_.number; }
    bool done() const { return done_ && aside_ == 0; }

private:
    asio::awaitable<void> take_and_hold();
    asio::awaitable<void> take_once(int name, basic_mutex&, bool reads, duration bound,
                                    std::optional<lease_time> own = {});
    asio::awaitable<void> blunder_into(std::shared_ptr<door>, int name, wanted, cancellation);
    std::function<void()> another_thing_aside();
    /// Callbacks for a lease that is in danger or lost.
    struct reactions {
        using callback = std::optional<std::stop_callback<std::function<void()>>>;
        callback in_danger{}, lost{};
    };
    void react(reactions&, grip&, int generation);
    asio::awaitable<void> use(std::shared_ptr<door>, grip&, int generation);
    // Extends the lease. Starts before the caller awaits the result, and may take longer than the
    // lease lasts.
    asio::awaitable<void> extend(grip&, int generation);
    // Return after all uses of the hold have ended. `downgrade` also releases it.
    asio::awaitable<void> upgrade(door&, grip& outer, int generation);
    asio::awaitable<void> downgrade(door&, grip& outer, int generation);
    asio::awaitable<void> re_enter(door&, grip&, int generation);
    asio::awaitable<void> finish_extending(std::unique_ptr<ongoing>,
                                           asio::awaitable<std::tuple<error_code>>,
                                           std::optional<std::string> believed);
    asio::awaitable<void> use_inner(std::unique_ptr<ongoing>, subject, int generation,
                                    duration longest, unsigned replicas,
                                    asio::awaitable<std::tuple<error_code, lease>>);
    void renew_from_now_on(grip&);
    asio::awaitable<void> ask(door&, subject, int generation);
    asio::awaitable<void> force();
    std::optional<std::string> believed_here(int name) const;
    asio::awaitable<void> nap(duration);
    asio::awaitable<void> now_or_beside(asio::awaitable<void>);
    void beside(asio::awaitable<void>);

    std::shared_ptr<door> build(int name);
    lock_kind kind_of(int name) const;
    std::optional<unsigned> draw_replicas(int name);
    duration usual_lease(const door&) const;
    wanted draw_wanted();
    cancellation draw_cancellation();
    subject about(int name) const { return {home_.number, number_, name}; }
    operation deed_on(int name, deed) const;

    world& world_;
    seat& home_;
    const int number_;
    const plan& plan_;
    const time_point end_;
    dice dice_;
    dice further_; // dice for later features, so that old seeds keep their meaning
    counting counters_;
    int aside_ = 0; ///< number of running activities that nobody awaits
    bool done_ = false;
};

} // namespace holdfast::sim
