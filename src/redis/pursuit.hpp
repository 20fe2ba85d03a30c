// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <set>
#include <string>

namespace holdfast::redis {

/// Usual time from the death of a server until another server has replaced it.
inline constexpr duration outage_of_failover = std::chrono::seconds{30};

/// Tells the observer that another server has some of the locks now. `told_by` names the source of
/// the information.
void tell_moved(const store_context&, const std::string& address, const std::string& told_by);

/// Set of all calls that pause between two attempts. close() uses the set to wake these calls.
class pauses {
public:
    /// Ends all present and future pauses.
    void end();
    bool ended() const { return ended_; }

    void add(alarm& each) { all_.insert(&each); }
    void remove(alarm& each) { all_.erase(&each); }

private:
    std::set<alarm*> all_;
    bool ended_ = false;
};

/// Retry loop of one call (`pursuit`). The call is repeated, with pauses, until its server is found
/// or its deadline has come.
class pursuit {
public:
    /// Starts to measure the time of the call. Writes the resulting deadline into `answer_by` of
    /// the call's options.
    pursuit(const store_context&, std::shared_ptr<pauses>, duration command_timeout, call_wishes&);
    pursuit(const pursuit&) = delete;
    ~pursuit();

    /// Pauses after a failed attempt. Throws the failure instead in three cases: the request may
    /// have been carried out, a retry cannot help, or too little time is left. Throws `closed` if
    /// the client is closed during the pause; the node may be destroyed then.
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
    std::unique_ptr<alarm> alarm_; // created at the first pause
};

} // namespace holdfast::redis
