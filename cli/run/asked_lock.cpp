// SPDX-License-Identifier: Apache-2.0
#include "cli/run/asked_lock.hpp"

#include "cli/run/holder.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>

#include <utility>

namespace cli {

using holdfast::lock_kind;

template <typename Lock, typename... Arguments>
Lock& asked_lock::keep(Arguments&&... how) {
    auto made = std::make_shared<Lock>(std::forward<Arguments>(how)...);
    kept_.push_back(made);
    return *made;
}

holdfast::basic_mutex& asked_lock::one(const std::string& name) {
    holdfast::client& home = homes_.front();
    const std::optional<unsigned> replicas = wanted_.replicas;
    switch (wanted_.kind) {
    case lock_kind::fenced:
        return keep<holdfast::fenced_mutex>(
            home, name,
            holdfast::fenced_options{
                .lease = lease_, .numbers = wanted_.numbers, .required_replicas = replicas});
    case lock_kind::fair:
        return keep<holdfast::fair_mutex>(
            home, name, holdfast::fair_options{.lease = lease_, .required_replicas = replicas});
    case lock_kind::spin:
        return keep<holdfast::spin_mutex>(
            home, name, holdfast::spin_options{.lease = lease_, .required_replicas = replicas});
    case lock_kind::read:
        return keep<holdfast::shared_mutex>(
                   home, name,
                   holdfast::shared_options{.lease = lease_, .required_replicas = replicas})
            .shared();
    case lock_kind::write:
        return keep<holdfast::shared_mutex>(
            home, name, holdfast::shared_options{.lease = lease_, .required_replicas = replicas});
    default:
        return keep<holdfast::mutex>(
            home, name, holdfast::mutex_options{.lease = lease_, .required_replicas = replicas});
    }
}

asked_lock::asked_lock(const locked_run& wanted, clients& homes)
    : wanted_{wanted}
    , homes_{homes} {
    if (wanted.lease)
        lease_.emplace(*wanted.lease);
    if (homes.size() > 1) {
        const holdfast::quorum_mutex::nodes all{homes.begin(), homes.end()};
        holdfast::quorum_options how{.lease = lease_,
                                     .nodes_remember = wanted.nodes_remember,
                                     .required_replicas = wanted.replicas};
        if (wanted.longest_lease)
            how.longest_lease.emplace(*wanted.longest_lease);
        whole_ = &keep<holdfast::quorum_mutex>(all, wanted.name, how);
        return;
    }
    whole_ = &one(wanted.name);
    if (wanted.with.empty())
        return;
    holdfast::multi_mutex::members all{*whole_};
    for (const std::string& each : wanted.with)
        all.emplace_back(one(each));
    whole_ = &keep<holdfast::multi_mutex>(all);
}

} // namespace cli
