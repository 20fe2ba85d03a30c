// SPDX-License-Identifier: Apache-2.0
// Simulated world of clients that share one mutex: a modelled server that runs the real scripts,
// clients of the production library, one clock, and one seed.
#pragma once

#include "network.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::handing {

class world {
public:
    /// `fault`: a fault in a script of the server, or null. It must outlive the world.
    explicit world(std::uint64_t seed, const server::edit* fault = nullptr);
    world(const world&) = delete;
    ~world();

    /// Plays the world to its end. Returns the text of the first violation, or an empty text.
    std::string play();

    std::size_t acquisitions = 0;
    std::size_t waited_outside = 0; ///< acquisitions of waiting clients without a hand-off
    /// Number of scripts for each acquisition, in a world without faults where at least four
    /// clients contend. Otherwise zero.
    double scripts_each = 0;
    bool is_calm() const { return calm_; }

private:
    struct seat;
    struct waiter {
        seat* of;
        time_point since;
        std::size_t acquisitions_before;
        bool may_fail;
    };
    struct belief {
        const lease* held;
        std::string owner;
        seat* of;
    };

    void add_client();
    void plan_faults();
    void stop_one();
    void kill_one();
    void restart(bool from_replica);
    void note_fault() { last_fault_ = clock_.now(); }
    void fail(std::string text);
    void check();
    void check_beliefs();
    void check_waiters();
    void check_grant(std::string_view script);
    void run_until(time_point);
    bool all_done() const;
    // Lists of choices are not drawn in a coroutine, because g++ 12 cannot compile that.
    duration draw_timeout();
    duration draw_cancellation();
    duration draw_pause();
    duration draw_hold();
    asio::awaitable<void> live(seat&);
    asio::awaitable<void> sleep(duration);
    asio::awaitable<std::optional<lease>> take(seat&, basic_mutex&);
    void check_token(const lease&);

    asio::io_context services_;
    asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    sim::sim_clock clock_{io_};
    sim::dice dice_;
    schedule events_{io_, clock_};
    const bool calm_;
    const bool crowded_; ///< always contended, with short holds, and without other calls
    const bool all_direct_;
    const int fenced_; ///< percentage of the callers that use a fenced mutex
    const duration lease_time_;
    server server_;
    bool is_down_ = false;
    weather weather_{};
    std::deque<seat> seats_;
    std::deque<waiter*> waiters_;
    std::deque<const belief*> beliefs_;
    std::string holder_;             ///< owner after the last script
    std::uint64_t last_token_ = 0;   ///< greatest fencing token so far
    bool may_forget_tokens_ = false; ///< true: the server has restarted with older data
    time_point last_fault_{};
    time_point last_busy_{};
    time_point excused_until_{};
    bool ending_ = false;
    bool is_over_ = false; ///< true: no planned fault may happen any more
    std::string verdict_;
};

} // namespace holdfast::handing
