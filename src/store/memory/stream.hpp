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

/// Stream of data from a primary to one replica. The primary sends a full copy after each write, in
/// order. A copy arrives after the lag. The primary knows of the arrival after another lag. Thread
/// safety: any thread may call any member.
class stream {
public:
    using copy = std::shared_ptr<const tables>;

    explicit stream(duration lag)
        : lag_{lag} {}

    // Sends a copy. The primary calls this and numbers its writes.
    void send(std::uint64_t write, copy, time_point now);
    /// Returns the last write that has arrived, as far as the primary knows. Empty: the first copy
    /// is not confirmed yet.
    std::optional<std::uint64_t> confirmed(time_point now);
    /// Returns the next time at which `confirmed` may grow. `time_point::max()`: no copy is on its
    /// way.
    time_point next_confirmation(time_point now);

    /// Returns the latest copy that has arrived. The replica calls this. Null: no copy has arrived
    /// since the last call.
    copy take_arrived(time_point now);
    /// Returns the last write that has arrived. Empty: the first copy has not arrived yet.
    std::optional<std::uint64_t> arrived(time_point now);

    void set_lag(duration); ///< sets the lag of later copies; no copy overtakes an earlier copy
    bool is_cut();
    /// ends the stream for good; copies and confirmations on their way are lost
    void cut(time_point now);
    void pause(time_point now); ///< stops deliveries, because the replica is stopped
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
    std::deque<parcel> under_way_; // copies that the primary does not know to have arrived
    std::optional<std::uint64_t> arrived_, confirmed_;
    copy latest_;
    time_point last_arrival_ = time_point::min();
    bool is_cut_ = false;
    bool is_paused_ = false;
};

} // namespace holdfast::memory
