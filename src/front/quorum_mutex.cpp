// SPDX-License-Identifier: Apache-2.0
#include "compose/joint_hold.hpp"
#include "front/wish.hpp"
#include "refusal.hpp"
#include "validation.hpp"

#include <holdfast/quorum_mutex.hpp>

#include <algorithm>
#include <string>

namespace holdfast {
namespace {

void check_nodes(const quorum_mutex::nodes& nodes) {
    if (nodes.empty() || nodes.size() > quorum_mutex::nodes_max)
        refuse("a quorum_mutex has " + std::to_string(nodes.size()) + " nodes; allowed are 1 to " +
               std::to_string(quorum_mutex::nodes_max));
    for (auto one = nodes.begin(); one != nodes.end(); ++one) {
        const auto is_same = [&one](const client& each) {
            return each.engine() == one->get().engine();
        };
        const auto again = std::find_if(nodes.begin(), one, is_same);
        if (again != one)
            refuse("nodes " + std::to_string(again - nodes.begin() + 1) + " and " +
                   std::to_string(one - nodes.begin() + 1) + " of a quorum_mutex are one client");
    }
}

compose::quorum_rules checked_rules(const quorum_options& how, duration lease,
                                    const limits& allowed) {
    const duration longest = how.longest_lease ? how.longest_lease->value : lease;
    if (checked_lease(longest, allowed) < lease)
        refuse("quorum_options.longest_lease is " + std::to_string(longest.count()) +
               " ms; it cannot be shorter than the lease of " + std::to_string(lease.count()) +
               " ms");
    return {checked_node_patience(how.node_patience, lease), longest, how.nodes_remember};
}

std::shared_ptr<sync::subject> make_quorum(const quorum_mutex::nodes& nodes, const lock_name& name,
                                           const quorum_options& how) {
    check_nodes(nodes);
    if (how.kind != lock_kind::plain && how.kind != lock_kind::token)
        refuse("quorum_options.kind is neither plain nor token");
    const std::shared_ptr<sync::engine>& first = nodes.front().get().engine();
    const lease_time lease = how.lease.value_or(lease_time{first->how().lease_time});
    const detail::lock_setup setup{
        .kind = how.kind, .lease = lease, .replicas = how.required_replicas};
    std::vector<compose::member> members;
    for (const client& each : nodes)
        members.push_back(front::make_subject(each.engine(), name, setup));
    const compose::quorum_rules rules = checked_rules(how, lease.value, first->bounds());
    const lock_name mapped = members.front()->name;
    return std::make_shared<compose::quorum_subject>(std::move(members), mapped, lease.value,
                                                     how.again, rules);
}

} // namespace

quorum_mutex::quorum_mutex(const nodes& of, lock_name name, quorum_options how)
    : basic_mutex{make_quorum(of, name, how)} {}

quorum_votes quorum_mutex::votes(const lease& held) noexcept {
    const auto* const some = dynamic_cast<const compose::joint_hold*>(held.hold().get());
    if (!some || !some->is_quorum())
        return {};
    const compose::vote_count now = some->votes();
    return {now.members, now.needs, now.held};
}

} // namespace holdfast
