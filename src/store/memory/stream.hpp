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

/// Stream of data from a primary to one replica. After each write it sends a full copy, in order. A
/// copy arrives after the lag, and the primary knows of the arrival after another lag. Thread
/// safety: every member may be called from any thread.
class stream {
public:
    using copy = std::shared_ptr<const tables>;

    explicit stream(duration lag)
        : lag_{lag} {}

    // For the primary, which numbers its writes.
    void send(std::uint64_t write, copy, time_point now);
    /// Returns the last write that has arrived, as far as the primary knows. Empty: the first copy
    /// has not been confirmed yet.
    std::optional<std::uint64_t> confirmed(time_point now);
    /// Returns when `confirmed` may next grow; `time_point::max()`: nothing is under way.
    time_point next_confirmation(time_point now);

    /// For the replica. Returns the latest copy that has arrived. Null: none since the last call.
    copy take_arrived(time_point now);
    /// Returns the last write that has arrived. Empty: the first copy has not arrived yet.
    std::optional<std::uint64_t> arrived(time_point now);

    void set_lag(duration); ///< for later copies; no copy overtakes another
    bool is_cut();
    void cut(time_point now);   ///< final: copies and confirmations under way are lost
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
    std::deque<parcel> under_way_; // copies until the primary knows of their arrival
    std::optional<std::uint64_t> arrived_, confirmed_;
    copy latest_;
    time_point last_arrival_ = time_point::min();
    bool is_cut_ = false;
    bool is_paused_ = false;
};

} // namespace holdfast::memory
