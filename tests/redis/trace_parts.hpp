// SPDX-License-Identifier: Apache-2.0
// Parts that replay a recording of Redisson: of shared locks, counters and leased permits.
#pragma once

#include "store/redis/names.hpp"
#include "store/redis/scripts.hpp"
#include "support/redis_connection.hpp"
#include "support/redis_server.hpp"
#include "wire_trace.hpp"

#include <holdfast/redis/options.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::trace {

/// A user of a read-write lock in a recording. Owners are written as in the recording:
/// `CLIENT1:T1`.
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

/// Returns a user that sends the same commands as Redisson (redisson-protocol.md, §10).
std::unique_ptr<part> a_jvm(support::redis_server&);
/// Returns a user that calls the library's scripts. It counts the re-entries of its threads, as the
/// library does.
std::unique_ptr<part> one_of_ours(support::redis_server&);

/// A user of counters in a recording, which does what a script of Redisson did.
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

/// Returns a user that sends the same commands as Redisson (redisson-protocol.md, §14 and §16).
std::unique_ptr<counting_part> a_counting_jvm(support::redis_server&);
/// Returns a user that calls the library's scripts, with a new number for each request.
std::unique_ptr<counting_part> one_of_ours_that_counts(support::redis_server&,
                                                       const std::string& label);

// A user of leased permits in a recording, which is Redisson or holdfast.

/// The permits of a scenario as they are on the server, by the names that the recording has:
/// "PERMIT2", which a command may write as "<PERMIT2.raw>".
struct permit_book {
    redis::redisson_form form = redis::redisson_form::v3_17;
    std::map<std::string, std::string> stored{};

    static bool is_permit(const std::string& word);
    static std::string label(const std::string& word);
    /// One that nobody took, or that the recording names by its digits.
    std::string at(const std::string& word) const;
};

class permit_part {
public:
    permit_part(support::redis_server& server, permit_book& book)
        : server_{server}
        , book_{book} {}
    virtual ~permit_part() = default;

    /// What it says as a number; of an acquire whether it was granted.
    virtual std::int64_t run(const command&) = 0;

protected:
    std::int64_t ask(const std::vector<std::string>& words) {
        return server_.command(words).integer;
    }
    std::int64_t now();
    /// "NOW+600", or Redisson's constant.
    std::int64_t moment(const std::string& recorded);
    static std::vector<std::string> permits_in(const command&);

    support::redis_server& server_;
    permit_book& book_;
};

/// As redisson-protocol.md, §15, says; `all_or_none`: what 3.41 and later do with lists.
std::unique_ptr<permit_part> a_jvm_with_permits(support::redis_server&, permit_book&,
                                                bool all_or_none);
std::unique_ptr<permit_part> one_of_ours_with_permits(support::redis_server&, permit_book&,
                                                      const std::string& label);

inline constexpr std::int64_t permit_without_end = 922'337'203'685'477;

} // namespace holdfast::trace
