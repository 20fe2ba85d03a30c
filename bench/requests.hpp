// SPDX-License-Identifier: Apache-2.0
// What the yardsticks send: the library's own two scripts, with the arguments it gives them.
#pragma once

#include "bench/connection.hpp"

#include <cstdint>
#include <string>

namespace holdfast::bench {

/// Makes both scripts known to the server, as they are after the library's first pair.
void load_scripts(const connection&);

/// The two requests of one lock, composed anew for each pair, as the library must: each pair is
/// another owner with another deadline.
class requests {
public:
    explicit requests(int lock);

    void append_lock(std::string& out);
    void append_release(std::string& out) const;

    /// Throw unless the lock was taken, and released.
    static void expect_granted(const redisReply&);
    static void expect_released(const redisReply&);

private:
    const std::string name_, channel_;
    std::string owner_;
    std::uint64_t number_ = 0;
};

} // namespace holdfast::bench
