// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/other_kinds.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

const std::string at_attempt{now_text};

std::string living_counters(const tables& named, const std::string& name) {
    return " FROM " + named.counters + " AS c WHERE c.name=" + name +
           " AND c.value IS NOT NULL AND (c.expires IS NULL OR c.expires>" + at_attempt + ")";
}

std::string living_readers(const tables& named, const std::string& name) {
    return " FROM " + named.holds + " AS r WHERE r.name=" + name + " AND r.kind=0 AND r.expires>" +
           at_attempt;
}

std::string arm_for(const std::string& condition, const std::string& reason) {
    return " WHEN " + condition + " THEN token+" + refusing(reason);
}

std::string counter_reason() {
    return "IF(c.kind=1," + std::to_string(permits_reason) + "," + std::to_string(latch_reason) +
           ")";
}

} // namespace

std::string other_kinds_refused(const tables& named, const ask& want) {
    const bool can_be_shared = reason_for(want.kind) == shared_reason;
    const std::string name = named.locks + ".name", lives = "expires>" + at_attempt;
    const std::string counters = living_counters(named, name);
    std::string arms;
    if (can_be_shared)
        arms = arm_for(lives + " AND kind<>1", std::to_string(mutex_reason));
    else
        arms = arm_for(lives + " AND kind=1", std::to_string(shared_reason)) +
               arm_for("NOT " + lives + " AND EXISTS(SELECT 1" + living_readers(named, name) +
                           " LOCK IN SHARE MODE)",
                       std::to_string(shared_reason));
    return arms + arm_for("NOT " + lives + " AND kind=2 AND EXISTS(SELECT 1" + counters +
                              " LOCK IN SHARE MODE)",
                          "(SELECT MIN(" + counter_reason() + ")" + counters + ")");
}

std::string is_read_by_anybody(const tables& named, const lock_name& name) {
    return "EXISTS(SELECT 1" + living_readers(named, hex(name.text)) + ")";
}

std::string kind_of_new_row(const tables& named, const lock_name& name) {
    const std::string its = hex(name.text);
    return "IF(EXISTS(SELECT 1" + living_counters(named, its) + ") OR EXISTS(SELECT 1" +
           living_readers(named, its) + "),2,0)";
}

std::string counter_announced(const tables& named, const lock_name& name) {
    return "INSERT INTO " + named.locks + " (name,kind,expires) VALUES(" + hex(name.text) + ",2," +
           std::string{past_text} + ") ON DUPLICATE KEY UPDATE kind=IF(expires>" + at_attempt +
           ",kind,2)";
}

std::string kinds_there(const tables& named, const lock_name& name) {
    const std::string its = hex(name.text);
    return "SELECT IF(kind=1," + std::to_string(shared_reason) + "," +
           std::to_string(mutex_reason) + ") FROM " + named.locks + " WHERE name=" + its +
           " AND expires>" + at_attempt + " UNION ALL SELECT DISTINCT " +
           std::to_string(shared_reason) + living_readers(named, its) + " UNION ALL SELECT " +
           counter_reason() + living_counters(named, its);
}

const char* other_kind_in(const result& told, std::uint64_t own_reason) {
    for (const auto& row : told.rows)
        if (const auto reason = static_cast<std::uint64_t>(number_at(row, 0)); reason != own_reason)
            return other_kind_for(reason);
    return nullptr;
}

std::uint64_t reason_for(lock_kind kind) noexcept {
    if (kind == lock_kind::permit)
        return permits_reason;
    return kind == lock_kind::read || kind == lock_kind::write ? shared_reason : mutex_reason;
}

std::uint64_t reason_for(counter_kind kind) noexcept {
    return kind == counter_kind::permits ? permits_reason : latch_reason;
}

} // namespace holdfast::mysql
