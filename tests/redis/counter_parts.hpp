// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"
#include "wire_trace.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::trace {

/// One who counts in a recording: carries out what a script of Redisson's did.
class counting_part {
public:
    explicit counting_part(support::redis_server& server)
        : server_{server} {}
    virtual ~counting_part() = default;

    /// What it says as a number: whether it was done, or of `drain` how many there were.
    virtual std::int64_t run(const command&) = 0;

    /// What is told where that was recorded.
    virtual std::vector<support::message> tells(const command& made,
                                                std::vector<support::message> recorded) const = 0;

protected:
    std::int64_t ask(const std::vector<std::string>& words) {
        return server_.command(words).integer;
    }

    support::redis_server& server_;
};

/// As Redisson does it, command by command (redisson-protocol.md, §14 and §16).
std::unique_ptr<counting_part> a_counting_jvm(support::redis_server&);
/// By the library's scripts, each request under a number of its own.
std::unique_ptr<counting_part> one_of_ours_that_counts(support::redis_server&,
                                                       const std::string& label);

} // namespace holdfast::trace
