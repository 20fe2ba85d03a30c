// SPDX-License-Identifier: Apache-2.0
// Requests of the yardsticks.
#pragma once

#include "bench/server/connection.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::bench {

inline constexpr std::string_view lease_ms = "30000"; // the library's default

/// Appends one request in the server's protocol.
void append_request(std::string& out, std::initializer_list<std::string_view> words);

/// Appends a WAIT, which returns how many replicas have what this connection has written.
void append_wait(std::string& out, int replicas);

/// Throws if fewer replicas have confirmed.
void expect_confirmed(const redisReply&, int replicas);

/// Returns the deadline until which a script may take a lock, by the library's default timeout.
std::string next_deadline();

/// The library's own two scripts, with the library's arguments. They are composed again for each
/// pair, as in the library, because each pair has another owner and another deadline.
class requests {
public:
    static constexpr int scripts_a_pair = 2;

    /// Loads both scripts into the server, where they also are after the library's first pair.
    requests(int lock, const connection&, std::string_view telling = "publish");

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// Throw if the lock was not taken, or not released.
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

    const std::string& channel() const { return channel_; }

private:
    const std::string name_, channel_, telling_;
    std::string owner_;
    std::uint64_t number_ = 0;
};

/// Simple lock of many small libraries: SET with NX and PX, and a script that deletes the key if it
/// still belongs to its owner. It promises much less: it sends no notifications, and a lost reply
/// is not handled.
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

} // namespace holdfast::bench
