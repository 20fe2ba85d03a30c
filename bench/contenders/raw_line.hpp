// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/contenders/requests.hpp"

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Options of a connection, besides its two scripts.
struct raw_manner {
    /// If above 0, the number of replicas that must confirm. One WAIT is sent for all requests that
    /// are written together.
    int replicas = 0;
    std::string_view telling = "publish";
};

/// Connection with many pending requests. It is a loop of read() and write() with hiredis' reader.
/// All locks that got a reply send their next request in one write.
class raw_line {
public:
    /// Creates a connection that takes and releases all these locks repeatedly, at the same time.
    raw_line(connection, const std::vector<int>& locks, raw_manner);
    raw_line(raw_line&&) = default;

    int socket() const { return connection_->fd; }
    bool is_busy() const { return !asked_.empty(); }

    void begin(); ///< prepares the first requests; `write_all` sends them
    /// Sends the requests; with replicas, waits until the previous requests are confirmed.
    void write_all();

    /// Reads the replies that have arrived. Takes released locks again until `end`.
    void read_some(stopwatch::time_point end, tally& all);

private:
    /// State of one lock.
    struct flight {
        requests wire;
        bool held = false;
        stopwatch::time_point begin{};
    };

    void take_off(flight&, stopwatch::time_point now);
    void hear(const redisReply&, stopwatch::time_point end, tally&);
    void hear_confirmation(const redisReply&, stopwatch::time_point end, tally&);
    void go_on(flight&, stopwatch::time_point end, tally&);
    reply next_reply();

    connection connection_;
    const raw_manner how_;
    std::vector<flight> flights_;
    std::deque<flight*> asked_;     // in the order of the replies; null for a WAIT
    std::vector<flight*> answered_; // replied, but not confirmed yet
    std::string out_;
    std::vector<char> in_;
};

} // namespace holdfast::bench
