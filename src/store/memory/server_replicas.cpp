// SPDX-License-Identifier: Apache-2.0
// Replication: the machine as a primary with replicas, or as a replica.
#include "store/memory/server_state.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

void server::state::wrote() {
    ++writes_;
    if (followers_.empty())
        return;
    const auto copy = std::make_shared<tables>(clock_);
    copy->become(has_);
    for (const std::shared_ptr<stream>& each : followers_)
        each->send(writes_, copy, clock_.clients_now());
}

/// Applies the data that have arrived from the primary. From now on, this machine's own clock
/// decides when the data expire.
void server::state::catch_up() {
    if (!follows_)
        return;
    if (const stream::copy arrived = follows_->take_arrived(clock_.clients_now()))
        has_.become(*arrived);
}

bool server::state::is_primary() const {
    const guard lock_it{mutex_};
    return is_primary_;
}

void server::state::be_primary() {
    const guard lock_it{mutex_};
    if (is_primary_)
        return;
    catch_up();
    follows_->cut(clock_.clients_now());
    follows_.reset();
    is_primary_ = true;
    forgets_before_ = clock_.clients_now(); // grants of the old primary may not have arrived
}

void server::state::follow(std::shared_ptr<stream> from) {
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

std::uint64_t server::state::demotions() const {
    const guard lock_it{mutex_};
    return demotions_;
}

void server::state::feed(const std::shared_ptr<stream>& to) {
    const guard lock_it{mutex_};
    std::erase_if(followers_, [](const auto& each) { return each->is_cut(); });
    followers_.push_back(to);
    const auto copy = std::make_shared<tables>(clock_);
    copy->become(has_);
    to->send(writes_, copy, clock_.clients_now());
}

std::uint64_t server::state::writes() const {
    const guard lock_it{mutex_};
    return writes_;
}

unsigned server::state::confirmed(std::uint64_t write) const {
    const guard lock_it{mutex_};
    const auto has_it = [&](const std::shared_ptr<stream>& each) {
        const std::optional<std::uint64_t> up_to = each->confirmed(clock_.clients_now());
        return up_to && *up_to >= write;
    };
    return static_cast<unsigned>(std::count_if(followers_.begin(), followers_.end(), has_it));
}

time_point server::state::next_confirmation() const {
    const guard lock_it{mutex_};
    time_point next = time_point::max();
    for (const std::shared_ptr<stream>& each : followers_)
        next = std::min(next, each->next_confirmation(clock_.clients_now()));
    return next;
}

std::optional<std::uint64_t> server::state::received() const {
    const guard lock_it{mutex_};
    return follows_ ? follows_->arrived(clock_.clients_now()) : std::nullopt;
}

bool server::state::stands_still() const {
    const guard lock_it{mutex_};
    return stands_still_;
}

void server::state::stop() {
    const guard lock_it{mutex_};
    stands_still_ = true;
    if (follows_)
        follows_->pause(clock_.clients_now());
}

void server::state::resume() {
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

void server::state::when_it_goes_on(std::function<void()> act) {
    {
        const guard lock_it{mutex_};
        if (stands_still_)
            return when_it_goes_on_.push_back(std::move(act));
    }
    act();
}

} // namespace holdfast::memory
