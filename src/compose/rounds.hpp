// SPDX-License-Identifier: Apache-2.0
// Functions that all ways of taking several locks share. In a round, a call asks several members
// and waits for their replies on its own alarm. After a failed round, the call must release the
// grants.
#pragma once

#include "compose/inquiry.hpp"
#include "sync/engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace holdfast::compose {

/// Guard that ends an inquiry. Replies may arrive after the call and its alarm have ended.
class retired_with_scope {
public:
    explicit retired_with_scope(std::shared_ptr<inquiry> asked)
        : asked_{std::move(asked)} {}
    retired_with_scope(const retired_with_scope&) = delete;
    ~retired_with_scope() {
        if (!asked_)
            return;
        asked_->retire();
        for (std::size_t which = 0; which < asked_->size(); ++which)
            asked_->cancel(which);
    }
    inquiry* operator->() const noexcept { return asked_.get(); }
    inquiry& operator*() const noexcept { return *asked_; }
    const std::shared_ptr<inquiry>& shared() const noexcept { return asked_; }
    /// Moves the inquiry out, so that it goes on after this scope.
    std::shared_ptr<inquiry> keep() noexcept { return std::move(asked_); }

private:
    std::shared_ptr<inquiry> asked_;
};

/// Sleeps until `done()` returns true, until `limit`, or until the call ends.
asio::awaitable<void> wait_for_answers(sync::acquisition&, time_point limit,
                                       std::function<bool()> done);

/// Cancels pending requests and releases the grants. Waits for these releases, because otherwise
/// the next round would find its own locks busy. The wait is at most `release_patience`, and ends
/// soon after the call's deadline.
asio::awaitable<void> let_go(sync::acquisition&, inquiry&);

/// Extends a part, so that it lasts at least `length` from now. Throws an error of the extension,
/// except `lease_lost`, because a lost part is simply not counted any more.
asio::awaitable<void> extend_part(sync::acquisition&, part&, duration length);

/// Returns when a member has surely replied to a request with this timeout, if the member's
/// executor runs.
time_point answered_by(const sync::engine& home, const inquiry&, duration patience);

/// Reports to the observer that the call was granted, and how long it waited.
void tell_acquired(const sync::acquisition&, const sync::tenure&);

/// Returns the first failure of a member, with a text that names the member. Returns a failure
/// without a code if no member failed.
sync::failure first_failure(const inquiry&, const std::vector<member>&);

} // namespace holdfast::compose
