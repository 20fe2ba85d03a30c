// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_choice.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::redis {
namespace {

/// Maximum number of former primaries in the list. It is more than the usual number of servers.
constexpr std::size_t left_max = 8;

std::optional<std::uint64_t> newest_of(std::span<const sentinel_answer> answers) {
    std::optional<std::uint64_t> newest;
    for (const sentinel_answer& one : answers)
        newest = std::max(newest, one.epoch); // an empty epoch is less than any other
    return newest;
}

template <typename Condition>
std::vector<sentinel_answer> those(std::span<const sentinel_answer> answers, Condition holds) {
    std::vector<sentinel_answer> some;
    std::ranges::copy_if(answers, std::back_inserter(some), holds);
    return some;
}

std::vector<server_address> servers_of(const sentinel_answer& one) {
    std::vector<server_address> all = one.replicas.value_or(std::vector<server_address>{});
    all.push_back(*one.primary);
    return all;
}

bool share_any(const std::vector<server_address>& one, const std::vector<server_address>& other) {
    return std::ranges::any_of(one, [&](const server_address& each) {
        return std::ranges::find(other, each) != other.end();
    });
}

/// Group of replies from Sentinels that watch the same servers (`watchers`), together with these
/// servers.
struct watchers {
    std::vector<sentinel_answer> answers;
    std::vector<server_address> servers;
};

/// Adds a reply to the groups. Merges all groups that have a server in common with the reply.
void join(std::vector<watchers>& all, const sentinel_answer& one) {
    watchers joined{{one}, servers_of(one)};
    for (watchers& each : all) {
        if (!share_any(each.servers, joined.servers))
            continue;
        std::ranges::copy(each.answers, std::back_inserter(joined.answers));
        std::ranges::copy(each.servers, std::back_inserter(joined.servers));
        each.answers.clear();
    }
    std::erase_if(all, [](const watchers& each) { return each.answers.empty(); });
    all.push_back(std::move(joined));
}

} // namespace

sentinel_choice::verdict sentinel_choice::decide(std::span<const sentinel_answer> all,
                                                 std::size_t asked, time_point now) {
    const auto answers = those(all, [](const auto& one) { return one.primary.has_value(); });
    if (answers.empty())
        return all.empty() ? verdict::nobody_answers : verdict::unknown_service;
    const proposal made = propose(of_our_service(answers));
    const bool counts = !made.is_older && !made.is_strange;
    if (counts)
        epoch_ = std::max(epoch_, made.epoch);
    const bool most_agree = 2 * made.votes > asked;
    if (speaks_against_us(made)) {
        if (!most_agree || !is_agreed(made, now))
            return verdict::stays;
    } else {
        doubt_.reset();
        if (primary_ && made.where != *primary_ && !made.is_newer && !most_agree)
            return verdict::stays;
    }
    epoch_ = counts ? epoch_ : made.epoch;
    if (!made.servers.empty())
        servers_ = made.servers;
    if (made.where == primary_)
        return verdict::stays;
    go_to(made.where);
    return verdict::moves;
}

/// Returns the replies of Sentinels that watch our servers. Returns the replies of the largest
/// group if no Sentinel watches our servers or if no server is known yet.
std::vector<sentinel_answer>
sentinel_choice::of_our_service(std::span<const sentinel_answer> answers) const {
    const bool all_tell = std::ranges::all_of(
        answers, [](const sentinel_answer& one) { return one.replicas.has_value(); });
    if (!all_tell) // a Sentinel without a list of replicas may belong to any group
        return {answers.begin(), answers.end()};
    std::vector<watchers> services;
    for (const sentinel_answer& one : answers)
        join(services, one);
    const auto is_less = [&](const watchers& one, const watchers& other) {
        const auto is_ours = [&](const server_address& each) { return is_known(each); };
        const bool here = std::ranges::any_of(one.servers, is_ours);
        const bool there = std::ranges::any_of(other.servers, is_ours);
        return here != there ? there : one.answers.size() < other.answers.size();
    };
    return std::ranges::max_element(services, is_less)->answers;
}

bool sentinel_choice::is_known(const server_address& where) const {
    return where == primary_ || std::ranges::find(servers_, where) != servers_.end();
}

sentinel_choice::proposal sentinel_choice::propose(std::span<const sentinel_answer> answers) const {
    proposal made;
    made.epoch = newest_of(answers);
    made.is_newer = epoch_ && made.epoch > epoch_;
    const bool all_tell = std::ranges::all_of(
        answers, [](const sentinel_answer& one) { return one.epoch.has_value(); });
    made.is_older = all_tell && made.epoch < epoch_;
    if (made.is_newer || all_tell)
        elect(made, those(answers, [&](const auto& one) { return one.epoch == made.epoch; }));
    else
        elect(made,
              those(answers, [&](const auto& one) { return !one.epoch || one.epoch >= epoch_; }));
    return made;
}

/// Elects the server that most of the replies name. If two servers have equally many votes, the
/// present primary wins.
void sentinel_choice::elect(proposal& made, std::span<const sentinel_answer> answers) const {
    for (const sentinel_answer& one : answers) {
        const auto votes = static_cast<std::size_t>(
            std::ranges::count(answers, one.primary, &sentinel_answer::primary));
        if (votes > made.votes || (votes == made.votes && one.primary == primary_)) {
            made.where = *one.primary;
            made.votes = votes;
        }
    }
    bool all_tell = true;
    for (const sentinel_answer& one : answers) {
        all_tell = all_tell && one.replicas.has_value();
        std::ranges::copy(servers_of(one), std::back_inserter(made.servers));
    }
    const auto is_ours = [&](const server_address& each) { return is_known(each); };
    made.is_strange = primary_ && all_tell && std::ranges::none_of(made.servers, is_ours);
    if (made.is_strange)
        made.is_newer = false;
}

bool sentinel_choice::speaks_against_us(const proposal& made) const {
    return made.is_older || made.is_strange ||
           (!made.is_newer && made.where != primary_ &&
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
