// SPDX-License-Identifier: Apache-2.0
#include "store/memory/replicas.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::memory {

server_group::server_group(std::function<time_point()> clients_clock)
    : clients_clock_{std::move(clients_clock)}
    , machines_{std::make_shared<server_state>(clients_clock_)}
    , streams_(1) {}

server_group::machine server_group::primary() const {
    const std::lock_guard lock_it{mutex_};
    return machines_[primary_];
}

std::size_t server_group::primary_number() const {
    const std::lock_guard lock_it{mutex_};
    return primary_;
}

server_group::machine server_group::at(std::size_t number) const {
    const std::lock_guard lock_it{mutex_};
    return machines_.at(number);
}

bool server_group::has_replicas() const {
    const std::lock_guard lock_it{mutex_};
    return machines_.size() > 1;
}

duration server_group::session_time() const {
    const std::lock_guard lock_it{mutex_};
    return session_time_;
}

void server_group::keep_by_session(duration session_time) {
    const std::lock_guard lock_it{mutex_};
    if (machines_.size() > 1)
        throw std::logic_error{"a server that keeps holds by session has no replicas"};
    session_time_ = session_time;
}

void server_group::replicate(std::size_t count, duration lag) {
    const std::lock_guard lock_it{mutex_};
    if (session_time_ > duration::zero())
        throw std::logic_error{"a server that keeps holds by session has no replicas"};
    lag_ = lag;
    for (; count > 0; --count) {
        machines_.push_back(std::make_shared<server_state>(clients_clock_, machines_.size()));
        streams_.emplace_back();
        follow(machines_.size() - 1);
    }
}

/// Makes the replica follow the machine that is the primary now. The caller must hold the mutex.
void server_group::follow(std::size_t replica) {
    auto next = std::make_shared<stream>(lag_);
    machines_[replica]->follow(next);
    machines_[primary_]->feed(next);
    streams_[replica] = std::move(next);
}

void server_group::set_lag(std::size_t replica, duration lag) {
    const std::lock_guard lock_it{mutex_};
    if (const std::shared_ptr<stream>& to = streams_.at(replica))
        to->set_lag(lag);
}

void server_group::cut_replica(std::size_t replica) {
    const std::lock_guard lock_it{mutex_};
    if (const std::shared_ptr<stream>& to = streams_.at(replica))
        to->cut(clients_clock_());
}

void server_group::promote(std::size_t number) {
    {
        const std::lock_guard lock_it{mutex_};
        machines_.at(number)->be_primary();
        streams_[number].reset();
        primary_ = number;
    }
    announce(number);
}

void server_group::demote(std::size_t number) {
    const std::lock_guard lock_it{mutex_};
    (void)machines_.at(number);
    if (number == primary_)
        throw std::logic_error{"it is the primary: promote another machine first"};
    follow(number);
}

void server_group::restart_empty(std::size_t number) {
    const std::lock_guard lock_it{mutex_};
    machines_.at(number)->forget_all();
    if (number != primary_ && streams_[number])
        follow(number);
}

void server_group::announce(std::size_t number) {
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

server_group::announcement server_group::last_announced() const {
    const std::lock_guard lock_it{mutex_};
    return {machines_[announced_], term_};
}

std::uint64_t server_group::listen(listener told) {
    const std::lock_guard lock_it{mutex_};
    listeners_.emplace(++last_listener_, std::move(told));
    return last_listener_;
}

void server_group::forget(std::uint64_t told) {
    const std::lock_guard lock_it{mutex_};
    listeners_.erase(told);
}

// Replication on one machine, which is a primary with replicas, or a replica.

void server_state::wrote() {
    ++writes_;
    if (followers_.empty())
        return;
    const auto copy = std::make_shared<tables>(clock_);
    copy->become(has_);
    for (const std::shared_ptr<stream>& each : followers_)
        each->send(writes_, copy, clock_.clients_now());
}

/// Applies the data that have arrived from the primary. After that, this machine's own clock
/// decides when the data expire.
void server_state::catch_up() {
    if (!follows_)
        return;
    if (const stream::copy arrived = follows_->take_arrived(clock_.clients_now()))
        has_.become(*arrived);
}

bool server_state::is_primary() const {
    const guard lock_it{mutex_};
    return is_primary_;
}

void server_state::be_primary() {
    const guard lock_it{mutex_};
    if (is_primary_)
        return;
    catch_up();
    follows_->cut(clock_.clients_now());
    follows_.reset();
    is_primary_ = true;
    forgets_before_ = clock_.clients_now(); // grants of the old primary may be missing here
}

void server_state::follow(std::shared_ptr<stream> from) {
    const guard lock_it{mutex_};
    const time_point now = clock_.clients_now();
    catch_up();
    if (follows_)
        follows_->cut(now);
    for (const std::shared_ptr<stream>& each : followers_)
        each->cut(now);
    followers_.clear();
    follows_ = std::move(from);
    if (stands_still_)
        follows_->pause(now);
    demotions_ += is_primary_ ? 1 : 0;
    is_primary_ = false;
}

std::uint64_t server_state::demotions() const {
    const guard lock_it{mutex_};
    return demotions_;
}

void server_state::feed(const std::shared_ptr<stream>& to) {
    const guard lock_it{mutex_};
    std::erase_if(followers_, [](const auto& each) { return each->is_cut(); });
    followers_.push_back(to);
    const auto copy = std::make_shared<tables>(clock_);
    copy->become(has_);
    to->send(writes_, copy, clock_.clients_now());
}

std::uint64_t server_state::writes() const {
    const guard lock_it{mutex_};
    return writes_;
}

unsigned server_state::confirmed(std::uint64_t write) const {
    const guard lock_it{mutex_};
    const auto has_it = [&](const std::shared_ptr<stream>& each) {
        const std::optional<std::uint64_t> up_to = each->confirmed(clock_.clients_now());
        return up_to && *up_to >= write;
    };
    return static_cast<unsigned>(std::count_if(followers_.begin(), followers_.end(), has_it));
}

time_point server_state::next_confirmation() const {
    const guard lock_it{mutex_};
    time_point next = time_point::max();
    for (const std::shared_ptr<stream>& each : followers_)
        next = std::min(next, each->next_confirmation(clock_.clients_now()));
    return next;
}

std::optional<std::uint64_t> server_state::received() const {
    const guard lock_it{mutex_};
    return follows_ ? follows_->arrived(clock_.clients_now()) : std::nullopt;
}

bool server_state::stands_still() const {
    const guard lock_it{mutex_};
    return stands_still_;
}

void server_state::stop() {
    const guard lock_it{mutex_};
    stands_still_ = true;
    if (follows_)
        follows_->pause(clock_.clients_now());
}

void server_state::resume() {
    std::vector<std::function<void()>> waiting;
    {
        const guard lock_it{mutex_};
        stands_still_ = false;
        if (follows_)
            follows_->go_on(clock_.clients_now());
        waiting.swap(when_it_goes_on_);
    }
    for (const std::function<void()>& each : waiting)
        each();
}

void server_state::when_it_goes_on(std::function<void()> act) {
    {
        const guard lock_it{mutex_};
        if (stands_still_)
            return when_it_goes_on_.push_back(std::move(act));
    }
    act();
}

} // namespace holdfast::memory
