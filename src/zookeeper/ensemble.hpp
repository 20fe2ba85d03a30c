// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/backoff.hpp"

#include <holdfast/address.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace holdfast::zookeeper {

inline constexpr std::uint16_t usual_port = 2181;

/// Which server is asked next, and how patiently. One after the other, in an order that is drawn
/// once, so that the clients of an ensemble are spread over it. No I/O, no clock.
class ensemble {
public:
    ensemble(std::vector<server_address>, const std::function<std::uint64_t()>& random,
             duration backoff_least, duration backoff_most);

    std::size_t size() const { return servers_.size(); }
    const std::vector<server_address>& all() const { return servers_; }
    std::size_t present() const { return at_; } ///< its number among them

    /// How long an attempt to connect may take. A server that accepts and says nothing must not use
    /// up the time of the others, nor the session's: so it is little at first. Where the way is as
    /// slow as that, it takes longer each round.
    duration patience(duration longest, std::optional<duration> session_timeout) const;

    /// The present one is of no use, or no more; the next one is present now. How long to wait
    /// before it is tried: not at all until each was tried.
    duration leave(std::uint64_t random);
    /// Whether each was tried in vain.
    bool all_failed() const { return failed_ >= servers_.size(); }

    /// The present one served well for a while.
    void served();

private:
    std::vector<server_address> servers_;
    net::backoff backoff_;
    std::size_t at_ = 0;
    std::size_t failed_ = 0; // one after the other
};

} // namespace holdfast::zookeeper
