// SPDX-License-Identifier: Apache-2.0
#include "compose/tally.hpp"

#include "compose/ask_members.hpp"
#include "sync/release.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::compose {

tally::tally(std::shared_ptr<sync::engine> home, std::size_t asked, std::size_t needs,
             sync::release_handler done)
    : home_{std::move(home)}
    , busy_{std::in_place, *home_}
    , asked_{asked}
    , needs_{needs}
    , done_{std::move(done)} {}

tally::verb tally::let_go() {
    return [](sync::tenure& one, sync::release_handler told) {
        one.release(std::move(told), one.home->executor());
    };
}

tally::verb tally::extend(duration length) {
    return [length](sync::tenure& one, sync::release_handler told) {
        one.extend(length, std::move(told));
    };
}

void tally::ask(const std::shared_ptr<sync::engine>& home, const tenures& parts, std::size_t needs,
                duration patience, verb what, sync::release_handler done) {
    const auto all = std::make_shared<tally>(home, parts.size(), needs, std::move(done));
    for (const std::shared_ptr<sync::tenure>& each : parts)
        all->send(each, what);
    const auto is_far = [&home](const std::shared_ptr<sync::tenure>& each) {
        return !each->home->reach().leads_where(home->reach());
    };
    if (all->done_ && std::any_of(parts.begin(), parts.end(), is_far))
        home->spawn(expire(all, patience));
}

void tally::send(const std::shared_ptr<sync::tenure>& to, const verb& what) {
    const std::shared_ptr<sync::engine>& there = to->home;
    if (there->reach().leads_where(home_->reach())) {
        auto told = [self = shared_from_this()](const sync::failure& why) { self->answered(why); };
        return what(*to, sync::release_handler{std::move(told)});
    }
    auto told = [self = shared_from_this()](const sync::failure& why) mutable {
        const std::shared_ptr<sync::engine> whose = self->home_;
        (void)whose->reach().post([self = std::move(self), why] { self->answered(why); });
    };
    auto begin = [to, what, told = sync::release_handler{std::move(told)}]() mutable {
        what(*to, std::move(told));
    };
    if (!there->reach().post(std::move(begin)))
        answered({make_error_code(errc::closed), "the client of a member is closed"});
}

void tally::answered(const sync::failure& why) {
    ++answered_;
    if (!why.code)
        ++well_;
    else if (why.code == errc::lease_lost)
        ++lost_;
    else if (!worst_.code)
        worst_ = why;
    if (done_ && (well_ >= needs_ || answered_ == asked_))
        finish();
}

/// Returns the result: success, `lease_lost` if too few parts were still held, or another failure.
sync::failure tally::verdict() const {
    if (well_ >= needs_)
        return {};
    if (lost_ + needs_ > asked_)
        return {make_error_code(errc::lease_lost), "a part of the hold was lost"};
    if (answered_ < asked_ && !worst_.code)
        return {make_error_code(errc::outcome_unknown), "not all members answered"};
    return worst_;
}

void tally::finish() {
    sync::release_handler done = std::move(done_);
    done_ = {};
    if (wake_)
        wake_->ring();
    sync::tell(*home_, std::move(done), verdict());
    busy_.reset(); // not in the destructor, because another thread may handle the last reply
}

asio::awaitable<void> tally::expire(std::shared_ptr<tally> all, duration patience) {
    sync::engine& home = *all->home_;
    all->wake_ = home.time().make_alarm();
    const time_point limit = sync::later(sync::later(home.now(), patience), executor_patience);
    while (all->done_ && home.now() < limit && !home.stopped())
        co_await home.nap(*all->wake_, limit);
    all->wake_.reset();
    if (all->done_)
        all->finish();
}

} // namespace holdfast::compose
