// SPDX-License-Identifier: Apache-2.0
#include "store/memory/group.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::memory {

server::group::group(std::function<time_point()> clients_clock)
    : clients_clock_{std::move(clients_clock)}
    , machines_{std::make_shared<state>(clients_clock_)}
    , streams_(1) {}

server::group::machine server::group::primary() const {
    const std::lock_guard lock_it{mutex_};
    return machines_[primary_];
}

std::size_t server::group::primary_number() const {
    const std::lock_guard lock_it{mutex_};
    return primary_;
}

server::group::machine server::group::at(std::size_t number) const {
    const std::lock_guard lock_it{mutex_};
    return machines_.at(number);
}

bool server::group::has_replicas() const {
    const std::lock_guard lock_it{mutex_};
    return machines_.size() > 1;
}

duration server::group::session_time() const {
    const std::lock_guard lock_it{mutex_};
    return session_time_;
}

void server::group::keep_by_session(duration session_time) {
    const std::lock_guard lock_it{mutex_};
    if (machines_.size() > 1)
        throw std::logic_error{"a server that keeps holds by session has no replicas"};
    session_time_ = session_time;
}

void server::group::replicate(std::size_t count, duration lag) {
    const std::lock_guard lock_it{mutex_};
    if (session_time_ > duration::zero())
        throw std::logic_error{"a server that keeps holds by session has no replicas"};
    lag_ = lag;
    for (; count > 0; --count) {
        machines_.push_back(std::make_shared<state>(clients_clock_, machines_.size()));
        streams_.emplace_back();
        follow(machines_.size() - 1);
    }
}

/// Makes the replica follow the present primary. Call it with the mutex held.
void server::group::follow(std::size_t replica) {
    auto next = std::make_shared<stream>(lag_);
    machines_[replica]->follow(next);
    machines_[primary_]->feed(next);
    streams_[replica] = std::move(next);
}

void server::group::set_lag(std::size_t replica, duration lag) {
    const std::lock_guard lock_it{mutex_};
    if (const std::shared_ptr<stream>& to = streams_.at(replica))
        to->set_lag(lag);
}

void server::group::cut_replica(std::size_t replica) {
    const std::lock_guard lock_it{mutex_};
    if (const std::shared_ptr<stream>& to = streams_.at(replica))
        to->cut(clients_clock_());
}

void server::group::promote(std::size_t number) {
    {
        const std::lock_guard lock_it{mutex_};
        machines_.at(number)->be_primary();
        streams_[number].reset();
        primary_ = number;
    }
    announce(number);
}

void server::group::demote(std::size_t number) {
    const std::lock_guard lock_it{mutex_};
    (void)machines_.at(number);
    if (number == primary_)
        throw std::logic_error{"it is the primary: promote another machine first"};
    follow(number);
}

void server::group::restart_empty(std::size_t number) {
    const std::lock_guard lock_it{mutex_};
    machines_.at(number)->forget_all();
    if (number != primary_ && streams_[number])
        follow(number);
}

void server::group::announce(std::size_t number) {
    std::map<std::uint64_t, listener> told;
    announcement what{};
    {
        const std::lock_guard lock_it{mutex_};
        announced_ = number;
        what = {machines_.at(number), ++term_};
        told = listeners_;
    }
    for (const auto& [id, tell] : told)
        tell(what);
}

server::group::announcement server::group::last_announced() const {
    const std::lock_guard lock_it{mutex_};
    return {machines_[announced_], term_};
}

std::uint64_t server::group::listen(listener told) {
    const std::lock_guard lock_it{mutex_};
    listeners_.emplace(++last_listener_, std::move(told));
    return last_listener_;
}

void server::group::forget(std::uint64_t told) {
    const std::lock_guard lock_it{mutex_};
    listeners_.erase(told);
}

} // namespace holdfast::memory
