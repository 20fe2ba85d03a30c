// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/redis_server.hpp"
#include "support/run_script.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::trace {

/// One who reads and writes in a recording. Owners are spelled as there: `CLIENT1:T1`.
class part {
public:
    explicit part(support::redis_server& server)
        : server_{server} {}
    virtual ~part() = default;

    // Whether it was granted, or was the caller's.
    virtual bool read(const std::string& name, const std::string& owner, std::int64_t lease) = 0;
    virtual bool write(const std::string& name, const std::string& owner, std::int64_t lease) = 0;
    virtual bool end_read(const std::string& name, const std::string& owner) = 0;
    virtual bool end_write(const std::string& name, const std::string& owner,
                           std::int64_t lease) = 0;
    /// Whether that hold was still there to be renewed. Redisson before 4.4 names one owner, and
    /// renews all readers of that lock: `and_all`; ours renews all that it has.
    virtual bool renew_read(const std::string& name, const std::string& owner, std::int64_t lease,
                            bool and_all) = 0;
    bool renew_write(const std::string& name, const std::string& owner, std::int64_t lease) {
        const redis::reply said =
            support::run_script(server_, redis::scripts::renew_leases, {name},
                                {std::to_string(lease), owner + ":", "write"});
        return support::integers_of(said).at(0) == 1;
    }

protected:
    std::int64_t ask(const std::vector<std::string>& words) {
        return server_.command(words).integer;
    }
    static std::string timer(const std::string& name, const std::string& owner, std::int64_t k) {
        return redis::timer_prefix(lock_name{name}) + ":" + owner +
               ":rwlock_timeout:" + std::to_string(k);
    }
    static std::string channel(const std::string& name) {
        return redis::shared_channel(lock_name{name}).text;
    }

    support::redis_server& server_;
};

/// As Redisson does it, command by command (redisson-protocol.md, §10).
std::unique_ptr<part> a_jvm(support::redis_server&);
/// By the library's scripts. Counts what its threads enter again, as the library does.
std::unique_ptr<part> one_of_ours(support::redis_server&);

} // namespace holdfast::trace
