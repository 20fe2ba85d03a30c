// SPDX-License-Identifier: Apache-2.0
#include "compose/composite_hold.hpp"
#include "config/errors.hpp"
#include "config/validation.hpp"
#include "front/blocking_calls.hpp"
#include "front/requests.hpp"

#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <algorithm>
#include <string>

namespace holdfast {
namespace {

using compose::member;

bool is_same_lock(const member& one, const member& other) {
    return one->home == other->home && one->name == other->name;
}

/// Checks the members that the user gave. No member may be given twice, because a call would then
/// wait for itself.
void check_members(const std::vector<member>& all) {
    if (all.empty() || all.size() > multi_mutex::members_max)
        refuse("a multi_mutex has " + std::to_string(all.size()) + " members; allowed are 1 to " +
               std::to_string(multi_mutex::members_max));
    for (auto one = all.begin(); one != all.end(); ++one) {
        if ((*one)->is_joint())
            refuse("a member of a multi_mutex is made of several locks itself: " +
                   in_quotes((*one)->name.text));
        const auto again = std::find_if(
            all.begin(), one, [&one](const member& each) { return is_same_lock(each, *one); });
        if (again != one)
            refuse("two members of a multi_mutex are the same lock of one client: " +
                   in_quotes((*one)->name.text));
    }
}

duration least_lease(const std::vector<member>& all) {
    duration least = duration::max();
    for (const member& each : all)
        least = std::min(least, each->lease);
    return least;
}

} // namespace

multi_mutex::multi_mutex(const members& given)
    : basic_mutex{[&given] {
        std::vector<member> all;
        for (const std::reference_wrapper<basic_mutex>& each : given)
            all.push_back(descriptor_of(each));
        check_members(all);
        const duration lease = least_lease(all);
        return std::make_shared<compose::multi_descriptor>(std::move(all), lease);
    }()} {
    const auto& all = static_cast<const compose::composite_descriptor&>(*lock_descriptor());
    any_ = std::make_shared<compose::any_descriptor>(all.members, all.lease);
}

std::optional<lease> multi_mutex::take_any(detail::acquire_options how) {
    const std::shared_ptr<sync::lock_descriptor> any = any_;
    front::throw_if(front::objection_to_blocking(*any));
    std::shared_ptr<sync::lock_handle> held =
        front::acquire(front::request_for(any, how), how.cancel);
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

std::vector<std::uint64_t> multi_mutex::fencing_tokens(const lease& held) {
    const auto* const all = dynamic_cast<const compose::composite_hold*>(held.hold().get());
    return all && !all->is_quorum() ? all->tokens() : std::vector<std::uint64_t>{};
}

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
                   std::to_string(one - nodes.begin() + 1) +
                   " of a quorum_mutex use the same client");
    }
}

compose::quorum_rules checked_rules(const quorum_options& how, duration lease,
                                    const limits& allowed) {
    const duration longest = how.longest_lease ? how.longest_lease->value : lease;
    if (checked_lease(longest, allowed) < lease)
        refuse("quorum_options.longest_lease is " + std::to_string(longest.count()) +
               " ms; it cannot be shorter than the lease of " + std::to_string(lease.count()) +
               " ms");
    return {checked_node_timeout(how.node_timeout, lease), longest, how.nodes_remember};
}

std::shared_ptr<sync::lock_descriptor>
make_quorum(const quorum_mutex::nodes& nodes, const lock_name& name, const quorum_options& how) {
    check_nodes(nodes);
    if (how.kind != lock_kind::plain && how.kind != lock_kind::token)
        refuse("quorum_options.kind must be plain or token");
    const std::shared_ptr<sync::engine>& first = nodes.front().get().engine();
    const lease_time lease = how.lease.value_or(lease_time{first->how().lease_time});
    const detail::lock_setup setup{
        .kind = how.kind, .lease = lease, .replicas = how.required_replicas};
    std::vector<compose::member> members;
    for (const client& each : nodes)
        members.push_back(front::make_descriptor(each.engine(), name, setup));
    const compose::quorum_rules rules = checked_rules(how, lease.value, first->bounds());
    const lock_name mapped = members.front()->name;
    return std::make_shared<compose::quorum_descriptor>(std::move(members), mapped, lease.value,
                                                        how.again, rules);
}

} // namespace

quorum_mutex::quorum_mutex(const nodes& of, lock_name name, quorum_options how)
    : basic_mutex{make_quorum(of, name, how)} {}

quorum_votes quorum_mutex::votes(const lease& held) noexcept {
    const auto* const some = dynamic_cast<const compose::composite_hold*>(held.hold().get());
    if (!some || !some->is_quorum())
        return {};
    const compose::vote_count now = some->votes();
    return {now.members, now.needs, now.held};
}

} // namespace holdfast
