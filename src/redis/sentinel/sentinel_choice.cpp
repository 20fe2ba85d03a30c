// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_choice.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::redis {
namespace {

/// More than a set has servers, as a rule.
constexpr std::size_t left_max = 8;

std::optional<std::uint64_t> newest_of(std::span<const sentinel_answer> answers) {
    std::optional<std::uint64_t> newest;
    for (const sentinel_answer& one : answers)
        newest = std::max(newest, one.epoch); // none is less than any
    return newest;
}

template <typename Condition>
std::vector<sentinel_answer> those(std::span<const sentinel_answer> answers, Condition holds) {
    std::vector<sentinel_answer> some;
    std::ranges::copy_if(answers, std::back_inserter(some), holds);
    return some;
}

} // namespace

sentinel_choice::verdict sentinel_choice::decide(std::span<const sentinel_answer> all,
                                                 std::size_t asked, time_point now) {
    const auto answers = those(all, [](const auto& one) { return one.primary.has_value(); });
    if (answers.empty())
        return all.empty() ? verdict::nobody_answers : verdict::unknown_service;
    const proposal made = propose(answers);
    if (!made.is_older)
        epoch_ = std::max(epoch_, made.epoch);
    if (!speaks_against_us(made))
        doubt_.reset();
    else if ((made.is_older && answers.size() < asked) || !is_agreed(made, now))
        return verdict::stays;
    epoch_ = made.is_older ? made.epoch : epoch_;
    if (made.where == primary_)
        return verdict::stays;
    go_to(made.where);
    return verdict::moves;
}

sentinel_choice::proposal sentinel_choice::propose(std::span<const sentinel_answer> answers) const {
    proposal made;
    made.epoch = newest_of(answers);
    made.is_newer = epoch_ && made.epoch > epoch_;
    const bool all_tell = std::ranges::all_of(
        answers, [](const sentinel_answer& one) { return one.epoch.has_value(); });
    made.is_older = all_tell && made.epoch < epoch_;
    if (made.is_newer || all_tell)
        made.where =
            most_named(those(answers, [&](const auto& one) { return one.epoch == made.epoch; }));
    else
        made.where = most_named(
            those(answers, [&](const auto& one) { return !one.epoch || one.epoch >= epoch_; }));
    return made;
}

/// Of two with as many, the present one.
server_address sentinel_choice::most_named(std::span<const sentinel_answer> answers) const {
    server_address found;
    std::ptrdiff_t most = 0;
    for (const sentinel_answer& one : answers) {
        const std::ptrdiff_t count =
            std::ranges::count(answers, one.primary, &sentinel_answer::primary);
        if (count > most || (count == most && one.primary == primary_)) {
            found = *one.primary;
            most = count;
        }
    }
    return found;
}

bool sentinel_choice::speaks_against_us(const proposal& made) const {
    return made.is_older || (!made.is_newer && made.where != primary_ &&
                             std::ranges::find(left_, made.where) != left_.end());
}

bool sentinel_choice::is_agreed(const proposal& made, time_point now) {
    if (!doubt_ || doubt_->where != made.where)
        doubt_ = {made.where, now};
    return now - doubt_->since >= agreed_after;
}

bool sentinel_choice::hear(const primary_switch& news) {
    if (primary_ && (news.from != *primary_ || news.to == *primary_))
        return false;
    doubt_.reset();
    go_to(news.to);
    return true;
}

void sentinel_choice::go_to(const server_address& where) {
    std::erase(left_, where);
    if (primary_)
        left_.push_back(*primary_);
    if (left_.size() > left_max)
        left_.erase(left_.begin());
    primary_ = where;
}

} // namespace holdfast::redis
