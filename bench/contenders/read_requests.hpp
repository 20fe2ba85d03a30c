// SPDX-License-Identifier: Apache-2.0
// Requests of the yardstick of readers.
#pragma once

#include "bench/contenders/requests.hpp"

namespace holdfast::bench {

/// The library's two scripts for readers, with the library's arguments. All readers share one lock.
class read_requests {
public:
    static constexpr int scripts_a_pair = 2;

    read_requests(int reader, const connection&);

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// These functions throw if the lock was not taken or not released.
    static void expect_granted(const redisReply& answer) { requests::expect_granted(answer); }
    static void expect_released(const redisReply& answer) { requests::expect_released(answer); }

private:
    const std::string client_, name_, marks_, timers_, channel_;
    std::string owner_, timer_;
    std::uint64_t number_ = 0;
};

} // namespace holdfast::bench
