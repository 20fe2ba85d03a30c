// SPDX-License-Identifier: Apache-2.0
// What the ways to take several have in common: a round of questions, whose answers one call waits
// for on its own alarm, and what is left of a round that failed.
#pragma once

#include "compose/inquiry.hpp"
#include "sync/engine.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace holdfast::compose {

/// The alarm of a call ends with it, and an answer may come later.
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
    std::shared_ptr<inquiry> keep() noexcept { return std::move(asked_); } ///< it goes on

private:
    std::shared_ptr<inquiry> asked_;
};

/// Sleeps until `done`, `limit`, or the end of the call.
asio::awaitable<void> wait_for_answers(sync::acquisition&, time_point limit,
                                       std::function<bool()> done);

/// Cancels what is open and releases what was granted. Waits until that is done, or the next round
/// would meet this one: for `release_patience` at most, and while the call has time.
asio::awaitable<void> let_go(sync::acquisition&, inquiry&);

/// Asks for that part for so long from now on; throws what that fails with. A part that is lost is
/// not believed any more.
asio::awaitable<void> extend_part(sync::acquisition&, part&, duration length);

/// A member whose executor runs has answered a question of that patience by then.
time_point answered_by(const sync::engine& home, const inquiry&, duration patience);

/// Tells the observer how long the call waited for what it has now.
void tell_acquired(const sync::acquisition&, const sync::tenure&);

/// The first failure, in words that say whose it is. No code: none failed.
sync::failure first_failure(const inquiry&, const std::vector<member>&);

} // namespace holdfast::compose
