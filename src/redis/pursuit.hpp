// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <set>
#include <string>

namespace holdfast::redis {

/// How long it usually takes until another server has taken the place of one that died.
inline constexpr duration outage_of_failover = std::chrono::seconds{30};

/// Tells the observer that another server has some locks now.
void tell_moved(const store_context&, const std::string& address, const std::string& told_by);

/// All that pause between two attempts, so that none is still asleep when the client is closed.
class pauses {
public:
    /// Ends those that there are, and those that there will be.
    void end();
    bool ended() const { return ended_; }

    void add(alarm& each) { all_.insert(&each); }
    void remove(alarm& each) { all_.erase(&each); }

private:
    std::set<alarm*> all_;
    bool ended_ = false;
};

/// One call whose server may have to be found: again and again, with pauses, as long as one call
/// may take.
class pursuit {
public:
    /// From now on; the wishes are given that limit.
    pursuit(const store_context&, std::shared_ptr<pauses>, duration command_timeout, call_wishes&);
    pursuit(const pursuit&) = delete;
    ~pursuit();

    /// After that failure: throws it, unless nothing was carried out and another server may do
    /// better; and pauses. Throws `closed` when the client is closed meanwhile: then its node may
    /// be gone.
    asio::awaitable<void> rest(const net::failure&);

    time_point began() const { return began_; }
    time_point limit() const { return limit_; }

private:
    static constexpr duration pause_min{50};
    static constexpr duration pause_max{250};

    const store_context& home_;
    const std::shared_ptr<pauses> all_;
    const time_point began_;
    const time_point limit_;
    std::unique_ptr<alarm> alarm_; // made when first needed
};

} // namespace holdfast::redis
