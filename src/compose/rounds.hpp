// SPDX-License-Identifier: Apache-2.0
// Code that all ways of taking several locks share. A round asks several members, and one call
// waits for the answers on its own alarm. After a failed round, the grants must be released.
#pragma once

#include "compose/inquiry.hpp"
#include "sync/engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace holdfast::compose {

/// Guard that retires an inquiry. Answers may come after the call and its alarm have ended.
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

/// Sleeps until `done()` is true, until `limit`, or until the call ends.
asio::awaitable<void> wait_for_answers(sync::acquisition&, time_point limit,
                                       std::function<bool()> done);

/// Cancels open questions and releases what was granted. Waits until that is done, because
/// otherwise the next round would meet these holds. The wait is at most `release_patience`, and
/// ends soon after the deadline of the call.
asio::awaitable<void> let_go(sync::acquisition&, inquiry&);

/// Extends a part to last at least `length` from now. Throws its failure, except `lease_lost`: a
/// lost part just does not count any more.
asio::awaitable<void> extend_part(sync::acquisition&, part&, duration length);

/// Returns when a member has surely answered a question of that patience, if its executor runs.
time_point answered_by(const sync::engine& home, const inquiry&, duration patience);

/// Reports to the observer that the call got its hold, and how long it waited.
void tell_acquired(const sync::acquisition&, const sync::tenure&);

/// Returns the first failure, with a text that names the member. No code: no member failed.
sync::failure first_failure(const inquiry&, const std::vector<member>&);

} // namespace holdfast::compose
