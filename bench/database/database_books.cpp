// SPDX-License-Identifier: Apache-2.0
#include "bench/database/database_books.hpp"

#include "bench/server/cpu.hpp"

namespace holdfast::bench {
namespace {

/// Counts the rows of held locks, of holdfast and of ShedLock.
constexpr const char* held_rows =
    "SELECT (SELECT COUNT(*) FROM holdfast_lock WHERE expires > UTC_TIMESTAMP(6)) + "
    "(SELECT COUNT(*) FROM shedlock WHERE lock_until > UTC_TIMESTAMP(3))";

} // namespace

void database_books::clear() {
    updates_before_ = updates();
    questions_before_ = questions();
}

std::string database_books::trouble_with(const claim& wanted) const {
    const long long counted = updates() - updates_before_;
    if (counted < wanted.least) // there may be more UPDATEs, for renewals and failed attempts
        return "the server ran " + std::to_string(counted) + " UPDATEs, and not " +
               std::to_string(wanted.least);
    if (const std::string left = server_.value(held_rows); left != "0")
        return left + " locks are left held on the server";
    return {};
}

long long database_books::commands_sent() const {
    return questions() - questions_before_;
}

double database_books::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

long long database_books::updates() const {
    return static_cast<long long>(server_.counted("Com_update"));
}

long long database_books::questions() const {
    return static_cast<long long>(server_.counted("Questions"));
}

} // namespace holdfast::bench
