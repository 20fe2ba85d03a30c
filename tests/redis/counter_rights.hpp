// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "counter_scripts.hpp"

#include <functional>
#include <string>

namespace holdfast {

/// A change as a user makes it who lacks one right after the other.
template <typename Scripts>
class on_denied_scripts : public Scripts {
protected:
    using Scripts::Scripts;

    struct attempt {
        std::function<void()> arrange;
        std::function<redis::reply()> act; ///< the same request each time
        std::function<std::string()> state;
    };

    /// All or nothing, whichever is missing; and as soon as it is there, once.
    void expect_all_or_nothing(const attempt& what) {
        begin(what);
        EXPECT_FALSE(is_refused(what.act()));
        const std::string wanted = what.state();
        int refused = 0;
        for (const char* const command : commands) {
            SCOPED_TRACE(command);
            begin(what);
            const std::string before = what.state();
            this->deny(command);
            const bool is_denied = is_refused(what.act());
            this->allow_all();
            EXPECT_EQ(what.state(), is_denied ? before : wanted);
            EXPECT_FALSE(is_refused(what.act()));
            EXPECT_EQ(what.state(), wanted) << "repeated";
            refused += is_denied ? 1 : 0;
        }
        EXPECT_GT(refused, 0);
    }

private:
    static constexpr const char* commands[] = {"get",
                                               "set",
                                               "incrby",
                                               "decrby",
                                               "del",
                                               "hset",
                                               "hget",
                                               "pexpire",
                                               "pttl",
                                               "persist",
                                               "zadd",
                                               "zrem",
                                               "zscore",
                                               "zcard",
                                               "zcount",
                                               "zrange",
                                               "zrangebyscore",
                                               "zrevrangebyscore",
                                               "zremrangebyscore",
                                               "hmget",
                                               "publish",
                                               "time"};

    void begin(const attempt& what) {
        this->allow_all();
        this->server().command({"FLUSHALL"});
        what.arrange();
    }
    static bool is_refused(const redis::reply& answer) {
        return answer.type == redis::reply::kind::error;
    }
};

} // namespace holdfast
