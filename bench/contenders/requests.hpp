// SPDX-License-Identifier: Apache-2.0
// Requests that the yardsticks send.
#pragma once

#include "bench/server/connection.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::bench {

inline constexpr std::string_view lease_ms = "30000"; // the library's default

/// Appends one request in the server's protocol to `out`.
void append_request(std::string& out, std::initializer_list<std::string_view> words);

/// Appends a WAIT. Its reply is the number of replicas that have all writes of this connection.
void append_wait(std::string& out, int replicas);

/// Throws if fewer than `replicas` replicas have confirmed.
void expect_confirmed(const redisReply&, int replicas);

/// Returns the deadline for a script that takes a lock. It is based on the library's default
/// timeout.
std::string next_deadline();

/// The library's two scripts with the library's arguments. The requests are composed again for
/// each pair, because each pair has its own owner and deadline. The library does the same.
class requests {
public:
    static constexpr int scripts_a_pair = 2;

    /// Loads both scripts into the server. The library also has them loaded after its first pair.
    requests(int lock, const connection&, std::string_view telling = "publish");

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// These functions throw if the lock was not taken or not released.
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

    const std::string& channel() const { return channel_; }

private:
    const std::string name_, channel_, telling_;
    std::string owner_;
    std::uint64_t number_ = 0;
};

/// Simple lock that many small libraries have. It uses SET with NX and PX, and a script that
/// deletes the key if the owner is still the same. It guarantees much less than holdfast: it sends
/// no notifications, and does not handle lost replies.
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
