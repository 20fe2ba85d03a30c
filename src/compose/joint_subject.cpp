// SPDX-License-Identifier: Apache-2.0
#include "compose/joint_subject.hpp"

#include "compose/ask_members.hpp"
#include "compose/joint_hold.hpp"
#include "sync/engine.hpp"
#include "sync/worded_error.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::compose {
namespace {

/// Returns the key of a set of members. Each name is preceded by its length, so two different sets
/// never have the same key.
std::string entry_of(const std::vector<member>& members, std::size_t needs) {
    std::vector<std::string> each;
    for (const member& one : members) {
        const auto& client = one->home->identity();
        each.push_back(std::string{client.begin(), client.end()} + static_cast<char>(one->kin()) +
                       std::to_string(one->name.text.size()) + ' ' + one->name.text);
    }
    std::sort(each.begin(), each.end());
    std::string all = std::to_string(needs) + ' ';
    for (const std::string& one : each)
        all += one;
    return all;
}

std::size_t majority_of(std::size_t nodes) {
    return nodes / 2 + 1;
}

unsigned most_replicas(const std::vector<member>& members) {
    unsigned most = 0;
    for (const member& one : members)
        most = std::max<unsigned>(most, one->replicas);
    return most;
}

std::string names_of(const std::vector<member>& members) {
    std::string all;
    for (const member& one : members)
        all += (all.empty() ? "" : " + ") + one->name.text;
    return all;
}

} // namespace

joint_subject::joint_subject(std::vector<member> of, lock_name n, std::size_t needed, duration l,
                             const detail::lock_setup& how)
    : subject{of.front()->home, std::move(n), l, how}
    , members{std::move(of)}
    , needs{needed}
    , entry_{entry_of(members, needs)} {}

std::vector<const sync::engine*> joint_subject::homes() const {
    std::vector<const sync::engine*> all;
    for (const member& each : members)
        all.push_back(each->home.get());
    return all;
}

multi_subject::multi_subject(std::vector<member> of, duration l)
    : joint_subject{of, names_of(of), of.size(), l, {}} {}

void multi_subject::refuse_parts_of_this_thread() const {
    for (const member& each : members)
        if (each->home->threads()->find(each->entry(), each->way()).count > 0)
            throw sync::worded_error{{make_error_code(errc::already_held),
                                      "this thread holds " + each->name.text + " by itself"}};
}

void multi_subject::lend_parts(const sync::tenure& held) const {
    if (const auto* const all = dynamic_cast<const joint_hold*>(&held))
        for (std::size_t which = 0; which < members.size(); ++which)
            if (std::shared_ptr<sync::tenure> one = all->hold_of(which))
                members[which]->home->threads()->lend(std::move(one), members[which]->way());
}

void multi_subject::take_back_parts() const {
    for (const member& each : members)
        each->home->threads()->take_back_lent(each->entry(), each->way());
}

any_subject::any_subject(std::vector<member> of, duration l)
    : joint_subject{of, names_of(of), 1, l, {}} {}

quorum_subject::quorum_subject(std::vector<member> of, lock_name n, duration l, recursion a,
                               quorum_rules r)
    : joint_subject{of,
                    std::move(n),
                    majority_of(of.size()),
                    l,
                    {.again = a, .replicas = most_replicas(of)}}
    , rules{r} {}

question quorum_subject::ballot(std::optional<duration> given) const {
    question how{.lease = given};
    if (!rules.nodes_remember)
        how.longest_lease = rules.longest_lease;
    return how;
}

void refuse_doubles(const joint_subject& of, const inquiry& asked) {
    for (std::size_t one = 0; one < asked.size(); ++one)
        for (std::size_t other = 0; other < one; ++other) {
            const std::string& server = asked.answer(one).server;
            if (server.empty() || server != asked.answer(other).server ||
                of.members[one]->name != of.members[other]->name)
                continue;
            throw sync::worded_error{
                {make_error_code(errc::invalid_argument),
                 "members " + std::to_string(other + 1) + " and " + std::to_string(one + 1) +
                     " are the same lock on the same server (" + server + ")"}};
        }
}

asio::awaitable<std::optional<holding>> joint_subject::inspect() const {
    const auto decided = [this](const auto& replies) { return is_decided(*this, replies); };
    std::vector<reply_of<std::optional<holding>>> all =
        co_await ask_members<std::optional<holding>>(
            *this, [](const subject& of) { return of.inspect(); }, decided);
    co_return as_one(*this, std::move(all));
}

asio::awaitable<bool> joint_subject::force() const {
    const auto decided = [this](const auto& replies) { return is_decided(*this, replies); };
    std::vector<reply_of<bool>> all = co_await ask_members<bool>(
        *this, [](const subject& of) { return of.force(); }, decided);
    co_return any_of(*this, all);
}

} // namespace holdfast::compose
