// SPDX-License-Identifier: Apache-2.0
// Requests and connections for the comparison programs (yardsticks), with which holdfast is
// compared. These programs use the server's protocol without holdfast.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/server/server.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

inline constexpr std::string_view lease_ms = "30000"; // the library's default

/// Appends one request in the server's protocol to `out`.
void append_request(std::string& out, std::initializer_list<std::string_view> words);

/// Appends the command WAIT. Its reply is the number of replicas that have all writes of this
/// connection.
void append_wait(std::string& out, int replicas);

/// Throws if fewer than `replicas` replicas have confirmed the request.
void expect_confirmed(const redisReply&, int replicas);

/// Returns the deadline argument of a script that takes a lock, computed as in holdfast.
std::string next_deadline();

/// Requests with the two scripts that holdfast uses to take and release a lock. Each pair of lock
/// and unlock has new requests, as in holdfast, because each pair has its own owner and deadline.
class requests {
public:
    static constexpr int scripts_a_pair = 2;

    /// Loads both scripts into the server. With holdfast, the server has them after the first lock
    /// and unlock, too.
    requests(int lock, const connection&, std::string_view telling = "publish");

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// The next two functions throw if the server did not grant or release the lock.
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

    const std::string& channel() const { return channel_; }

private:
    const std::string name_, channel_, telling_;
    std::string owner_;
    std::uint64_t number_ = 0;
};

/// Requests of a simple lock, as in many small libraries: SET with NX and PX, and a script that
/// deletes the key if its owner is still the same. Unlike holdfast, the simple lock sends no
/// notifications and does not handle lost replies.
class set_nx_requests {
public:
    static constexpr int scripts_a_pair = 1;

    set_nx_requests(int lock, const connection&);

    void append_lock(std::string& out);
    void append_release(std::string& out) const;
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

private:
    const std::string name_;
    std::string release_sha1_, token_;
    std::uint64_t number_ = 0;
};

/// Requests with the two scripts that holdfast uses to take and release a read lock. All readers
/// share one lock.
class read_requests {
public:
    static constexpr int scripts_a_pair = 2;

    read_requests(int reader, const connection&);

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// The next two functions throw if the server did not grant or release the lock.
    static void expect_granted(const redisReply& answer) { requests::expect_granted(answer); }
    static void expect_released(const redisReply& answer) { requests::expect_released(answer); }

private:
    const std::string client_, name_, marks_, timers_, channel_;
    std::string owner_, timer_;
    std::uint64_t number_ = 0;
};

/// Options of a `raw_line`.
struct raw_manner {
    /// Number of replicas that must confirm each grant. If it is not 0, each write() ends with one
    /// command WAIT for all its requests.
    int replicas = 0;
    std::string_view telling = "publish";
};

/// Connection with many pending requests, which alternates read() and write(). All locks that got a
/// reply in one read() send their next request in one write().
class raw_line {
public:
    /// Creates a connection that repeatedly takes and releases each of the given locks, all at the
    /// same time.
    raw_line(connection, const std::vector<int>& locks, raw_manner);
    raw_line(raw_line&&) = default;

    int socket() const { return connection_->fd; }
    bool is_busy() const { return !asked_.empty(); }

    void begin(); ///< prepares the first requests; `write_all` sends them
    /// Sends the requests. If replicas must confirm, first waits until the previous requests are
    /// confirmed.
    void write_all();

    /// Reads the replies that have arrived. When the reply says that a lock was released, requests
    /// this lock again, unless the time `end` is over.
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
    std::vector<flight*> answered_; // locks that got a reply, but no confirmation yet
    std::string out_;
    std::vector<char> in_;
};

} // namespace holdfast::bench
