// SPDX-License-Identifier: Apache-2.0
// Machines of one memory::server: a primary and its replicas.
#pragma once

#include "store/memory/server_state.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::memory {

/// Group of machines: a primary and its replicas. Thread safety: any thread may call any function.
class server_group {
public:
    using machine = std::shared_ptr<server_state>;
    struct announcement {
        machine primary;
        std::uint64_t term = 0; ///< grows with each announcement of a primary
    };
    using listener = std::function<void(const announcement&)>;

    explicit server_group(std::function<time_point()> clients_clock);

    machine primary() const;
    std::size_t primary_number() const;
    /// Returns the machine with this number. Throws `std::out_of_range` if there is none.
    machine at(std::size_t number) const;

    // Functions of `memory::server`; their comments are there.
    void replicate(std::size_t count, duration lag);
    void keep_by_session(duration session_time);
    void set_lag(std::size_t replica, duration);
    void cut_replica(std::size_t replica);
    void promote(std::size_t);
    void demote(std::size_t);
    void announce(std::size_t);
    void restart_empty(std::size_t);

    /// Returns whether the group has ever had a replica. Without replicas, each write is confirmed
    /// at once.
    bool has_replicas() const;

    duration session_time() const; ///< length of a session; zero: holds have their own leases

    announcement last_announced() const;

    /// Registers a function that is called each time a primary is announced. Returns a number for
    /// forget().
    std::uint64_t listen(listener);
    void forget(std::uint64_t told);

private:
    void follow(std::size_t replica);

    const std::function<time_point()> clients_clock_;
    mutable std::mutex mutex_;
    std::vector<machine> machines_;
    // The stream from which each machine gets its data. Null if the machine has no primary.
    std::vector<std::shared_ptr<stream>> streams_;
    duration lag_{};
    duration session_time_{};
    std::size_t primary_ = 0;
    std::size_t announced_ = 0;
    std::uint64_t term_ = 1;
    std::map<std::uint64_t, listener> listeners_;
    std::uint64_t last_listener_ = 0;
};

} // namespace holdfast::memory
