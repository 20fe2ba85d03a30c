// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/tables.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace holdfast::memory {

/// What a primary sends to one replica: after each write all that it has by then, in order. It
/// arrives a while later, and as long after that the primary knows it.
/// Thread safety: every member may be called from any thread.
class stream {
public:
    using copy = std::shared_ptr<const tables>;

    explicit stream(duration lag)
        : lag_{lag} {}

    // At the primary, whose writes are numbered.
    void send(std::uint64_t write, copy, time_point now);
    /// All writes up to that one have arrived, as far as the primary knows. Nothing: the replica
    /// has not been sent all yet that there was at the beginning.
    std::optional<std::uint64_t> confirmed(time_point now);
    /// When that may next become more; `time_point::max()`: not by itself.
    time_point next_confirmation(time_point now);

    /// At the replica: the latest that has arrived. Null: nothing since it was last asked for.
    copy take_arrived(time_point now);
    /// Up to which write. Nothing: not even what there was at the beginning.
    std::optional<std::uint64_t> arrived(time_point now);

    void set_lag(duration); ///< of what is sent from now on; nothing overtakes anything
    bool is_cut();
    void cut(time_point now);   ///< for good: what is on its way is lost, in both directions
    void pause(time_point now); ///< the replica stands still
    void go_on(time_point now);

private:
    struct parcel {
        std::uint64_t write;
        copy all;
        time_point arrives_at, known_at;
    };

    void settle(time_point now);

    std::mutex mutex_;
    duration lag_;
    std::deque<parcel> under_way_; // until the primary knows that it has arrived
    std::optional<std::uint64_t> arrived_, confirmed_;
    copy latest_;
    time_point last_arrival_ = time_point::min();
    bool is_cut_ = false;
    bool is_paused_ = false;
};

} // namespace holdfast::memory
