// SPDX-License-Identifier: Apache-2.0
#include "compose/joint_hold.hpp"
#include "front/blocking.hpp"
#include "front/wish.hpp"
#include "refusal.hpp"

#include <holdfast/multi_mutex.hpp>

#include <algorithm>
#include <string>

namespace holdfast {
namespace {

using compose::member;

bool is_same_lock(const member& one, const member& other) {
    return one->home == other->home && one->name == other->name;
}

/// Checks the members that the user gave. A call that contains one lock twice would wait for
/// itself.
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
            all.push_back(subject_of(each));
        check_members(all);
        const duration lease = least_lease(all);
        return std::make_shared<compose::multi_subject>(std::move(all), lease);
    }()} {
    const auto& all = static_cast<const compose::joint_subject&>(*subject());
    any_ = std::make_shared<compose::any_subject>(all.members, all.lease);
}

std::optional<lease> multi_mutex::take_any(detail::wish how) {
    const std::shared_ptr<sync::subject> any = any_;
    front::throw_if(front::objection_to_blocking(*any));
    std::shared_ptr<sync::tenure> held = front::acquire(front::request_for(any, how), how.cancel);
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

std::vector<std::uint64_t> multi_mutex::fencing_tokens(const lease& held) {
    const auto* const all = dynamic_cast<const compose::joint_hold*>(held.hold().get());
    return all && !all->is_quorum() ? all->tokens() : std::vector<std::uint64_t>{};
}

} // namespace holdfast
