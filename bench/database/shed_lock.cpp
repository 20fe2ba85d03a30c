// SPDX-License-Identifier: Apache-2.0
#include "bench/database/shed_lock.hpp"

#include <stdexcept>

namespace holdfast::bench {
namespace {

/// ShedLock's `lockAtMostFor`, the same as holdfast's lease. `lockAtLeastFor` is zero, its default.
const std::string end_of_lease = "TIMESTAMPADD(MICROSECOND, 30000000, UTC_TIMESTAMP(3))";
const std::string end_at_least = "TIMESTAMPADD(MICROSECOND, 0, locked_at)";

std::string quoted(const std::string& word) {
    return "'" + word + "'"; // the names come from the benchmark and contain no quote
}

std::string first_row(const std::string& name, const std::string& who) {
    return "INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by) VALUES(" +
           quoted(name) + ", UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), " + quoted(who) + ")";
}

std::string attempt(const std::string& name, const std::string& who) {
    return "UPDATE shedlock SET lock_until = " + end_of_lease +
           ", locked_at = UTC_TIMESTAMP(3), locked_by = " + quoted(who) +
           " WHERE name = " + quoted(name) + " AND lock_until <= UTC_TIMESTAMP(3)";
}

std::string release(const std::string& name, const std::string& who) {
    return "UPDATE shedlock SET lock_until = IF (" + end_at_least + " > UTC_TIMESTAMP(3) , " +
           end_at_least + ", UTC_TIMESTAMP(3)) WHERE name = " + quoted(name) +
           " AND locked_by = " + quoted(who);
}

} // namespace

shed_lock::shed_lock(const support::mariadb_server& where, const std::string& name,
                     const std::string& who)
    : session_{where}
    , attempt_{attempt(name, who)}
    , release_{release(name, who)} {
    session_.change(first_row(name, who));
}

bool shed_lock::try_lock() {
    return session_.change(attempt_) == 1;
}

void shed_lock::lock() {
    if (!try_lock())
        throw std::runtime_error{"a free lock was not granted"};
}

void shed_lock::unlock() {
    if (session_.change(release_) != 1)
        throw std::runtime_error{"a release did not find its lock"};
}

} // namespace holdfast::bench
