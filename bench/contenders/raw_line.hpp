// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/contenders/requests.hpp"

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace holdfast::bench {

/// What the servers want besides the two scripts.
struct raw_manner {
    /// Above 0: so many must confirm, by one WAIT for all that is written at once.
    int replicas = 0;
    std::string_view telling = "publish";
};

/// One connection with many requests in flight: a loop of read() and write() around hiredis'
/// reader. Whatever has answered asks its next question with the same write.
class raw_line {
public:
    /// Takes and releases these locks, all at once, each over and over.
    raw_line(connection, const std::vector<int>& locks, raw_manner);
    raw_line(raw_line&&) = default;

    int socket() const { return connection_->fd; }
    bool is_busy() const { return !asked_.empty(); }

    void begin();     ///< nothing is sent before `write_all`
    void write_all(); ///< and where replicas confirm, nothing more before they have

    /// What has come. Before `end` a lock that was released is taken again.
    void read_some(stopwatch::time_point end, tally& all);

private:
    /// One lock.
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
    std::deque<flight*> asked_;     // in the order in which the server answers; null: WAIT
    std::vector<flight*> answered_; // and not confirmed
    std::string out_;
    std::vector<char> in_;
};

} // namespace holdfast::bench
