// SPDX-License-Identifier: Apache-2.0
#include "sync/seen_free.hpp"

#include "sync/acquire.hpp"
#include "sync/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

/// Longest time between two checks if the client cannot subscribe to the release.
constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Extra delay of a check after a lease ends. The store may delete an expired key 1 ms late.
constexpr duration expiry_rounding{2};

/// A call without a handler. Only the coroutine that created it reads its result.
class sighting final : public acquisition {
public:
    using acquisition::acquisition;
    failure why;

private:
    void complete(outcome got) override { why = std::move(got.why); }
};

/// Guard that ends the call when its coroutine ends, also after an exception.
class ends_with_scope {
public:
    explicit ends_with_scope(acquisition& call)
        : call_{call} {}
    ends_with_scope(const ends_with_scope&) = delete;
    ~ends_with_scope() { call_.cancel(); }

private:
    acquisition& call_;
};

} // namespace

// The first check makes no subscription, and returns at once if the lock is busy. The subscription
// is made at the second check, so it is made only if the caller waits.
asio::awaitable<answer> seen_free::look() {
    if (found_busy_ && !ear_)
        ear_ = co_await home_.operators_view().listen(name_, wake_);
    const std::optional<holding> found = co_await home_.operators_view().inspect(name_);
    if (found && found->kind == key_kind::other)
        throw_wrong_type(found->other, "a lock");
    if (!found)
        co_return answer{.granted = true, .term = duration::max()};
    if (!std::exchange(found_busy_, true))
        co_return answer{};
    duration bound = ear_ ? home_.how().poll_bound : unheard_poll_bound;
    if (!found->tells)
        bound = std::min(bound, untold_poll_bound);
    const duration left = found->remaining.value_or(bound);
    co_return answer{.term = std::min(bound, left + expiry_rounding)};
}

asio::awaitable<bool> wait_until_free(std::shared_ptr<const subject> lock, duration patience) {
    request wanted = request_for(std::move(lock), patience, std::nullopt);
    wanted.takes = false;
    const auto call = std::make_shared<sighting>(std::move(wanted));
    const ends_with_scope over{*call};
    bool seen = false;
    if (call->home->take_up(*call)) {
        const acquisition::bed sleeps_here{*call};
        seen = (co_await acquire(call)).has_value();
    }
    if (call->why.code)
        throw boost::system::system_error{call->why.code, call->why.text};
    co_return seen;
}

asio::awaitable<void> look_out(std::shared_ptr<acquisition> call) {
    const std::shared_ptr<engine> home = call->home;
    if (call->finished() || !home->take_up(*call))
        co_return;
    const acquisition::bed sleeps_here{*call};
    try {
        (void)co_await acquire(call);
        call->succeed_jointly(nullptr);
    } catch (const boost::system::system_error& e) {
        call->fail({e.code(), e.what()});
    }
}

} // namespace holdfast::sync
