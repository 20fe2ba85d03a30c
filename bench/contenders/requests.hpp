// SPDX-License-Identifier: Apache-2.0
// What the yardsticks send.
#pragma once

#include "bench/server/connection.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::bench {

inline constexpr std::string_view lease_ms = "30000"; // as the library has it by default

/// One request in the server's protocol, behind others.
void append_request(std::string& out, std::initializer_list<std::string_view> words);

/// How many replicas have what this connection has written.
void append_wait(std::string& out, int replicas);

/// Throws unless so many have.
void expect_confirmed(const redisReply&, int replicas);

/// Until when a script may take a lock: as much later than now as the library allows by default.
std::string next_deadline();

/// The library's own two scripts, with the arguments it gives them. Composed anew for each pair, as
/// the library must: each pair is another owner with another deadline.
class requests {
public:
    static constexpr int scripts_a_pair = 2;

    /// Makes both scripts known to the server, as they are after the library's first pair.
    requests(int lock, const connection&, std::string_view telling = "publish");

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// Throw unless the lock was taken, and released.
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

    const std::string& channel() const { return channel_; }

private:
    const std::string name_, channel_, telling_;
    std::string owner_;
    std::uint64_t number_ = 0;
};

/// The plain lock of many small libraries, which promises much less: SET with NX and PX, and a
/// script that deletes the key if it is still its owner's. Nobody is woken, no answer may be lost.
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
