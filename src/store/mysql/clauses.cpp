// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/clauses.hpp"

#include "store/mysql/packed_answer.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::mysql {

std::string late_after(const runtime::remote_clock& clock, time_point deadline) {
    if (!clock.known())
        return "0";
    const auto latest = clock.no_later_than(deadline);
    if (!latest) // too late to be written in microseconds
        return std::to_string(std::numeric_limits<std::int64_t>::max());
    return std::to_string(std::max<std::int64_t>(latest->count(), 0));
}

std::string is_late(std::string_view late) {
    return std::string{runs_text}.append(">").append(late);
}

std::string end_of(duration lease_time) {
    return std::string{now_text}
        .append("+INTERVAL ")
        .append(std::to_string(std::chrono::microseconds{lease_time}.count()))
        .append(" MICROSECOND");
}

std::string refusing(std::string_view reason) {
    return std::string{"0*LAST_INSERT_ID(9223372036854775808+"}
        .append(runs_text)
        .append(" DIV 1000*1048576+")
        .append(reason)
        .append(")");
}

std::string left_until(std::string_view moment) {
    return "GREATEST(1,LEAST(" + std::to_string(longest_left) + ",1+TIMESTAMPDIFF(MICROSECOND," +
           std::string{now_text}.append(",").append(moment) + ") DIV 1000))";
}

std::string next_token(std::uint64_t block) {
    return "LAST_INSERT_ID(GREATEST(token,CAST(" + std::string{runs_text} + " AS UNSIGNED))+" +
           std::to_string(block) + ")";
}

std::string list_of(const std::vector<std::string>& values) {
    std::string all = "(";
    for (const std::string& each : values)
        all.append(all.size() > 1 ? "," : "").append(hex(each));
    return all += ')';
}

} // namespace holdfast::mysql
