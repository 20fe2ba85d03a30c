// SPDX-License-Identifier: Apache-2.0
// Functions for all locks that consist of several locks. In a round, a call asks several members,
// and sleeps on its own alarm until they have replied. After a failed round, the call must release
// the grants. Other functions ask the members for the state of their locks, and combine the
// replies.
#pragma once

#include "compose/composite_lock.hpp"
#include "compose/member_requests.hpp"
#include "sync/engine.hpp"

#include <boost/asio/co_spawn.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::compose {

/// Guard that ends a call's requests to the members when the call ends. Replies that arrive later
/// must not use the call or its alarm, because these no longer exist.
class retired_with_scope {
public:
    explicit retired_with_scope(std::shared_ptr<member_requests> asked)
        : asked_{std::move(asked)} {}
    retired_with_scope(const retired_with_scope&) = delete;
    ~retired_with_scope() {
        if (!asked_)
            return;
        asked_->retire();
        for (std::size_t which = 0; which < asked_->size(); ++which)
            asked_->cancel(which);
    }
    member_requests* operator->() const noexcept { return asked_.get(); }
    member_requests& operator*() const noexcept { return *asked_; }
    const std::shared_ptr<member_requests>& shared() const noexcept { return asked_; }
    /// Moves the requests to the members out of this guard, so that they continue after this scope.
    std::shared_ptr<member_requests> keep() noexcept { return std::move(asked_); }

private:
    std::shared_ptr<member_requests> asked_;
};

/// Sleeps until `done()` returns true, the time `limit` is reached, or the call ends.
asio::awaitable<void> wait_for_answers(sync::acquisition&, time_point limit,
                                       std::function<bool()> done);

/// Cancels pending requests, releases the locks that this call was granted, and waits for these
/// releases. Without the wait, the call would find its own locks busy in the next round. The wait
/// ends after `release_timeout`, or soon after the deadline of the call.
asio::awaitable<void> let_go(sync::acquisition&, member_requests&);

/// Extends a member's hold to at least `length` from now. Throws the error of the extension, except
/// `lease_lost`, because a lost member simply does not count any more.
asio::awaitable<void> extend_part(sync::acquisition&, part&, duration length);

/// Returns the time by which a member has certainly replied to a request with this timeout,
/// provided that the member's executor runs.
time_point answered_by(const sync::engine& home, const member_requests&, duration timeout);

/// Reports to the observer that the call acquired the lock, and how long it waited.
void tell_acquired(const sync::acquisition&, sync::lock_handle&);

/// Returns the failure with a text that names the member.
sync::failure failure_of(std::size_t which, const std::vector<member>&, const sync::failure& why);

/// Returns the first failure of a member, with a text that names the member. Returns a failure
/// without a code if no member failed.
sync::failure first_failure(const member_requests&, const std::vector<member>&);

// The functions below ask the stores of all members for the state of their locks. Their requests
// acquire no lock.

/// Reply of a member: a value or a failure.
template <typename T>
struct reply_of {
    std::optional<T> value{};
    sync::failure why{};
};

/// Collects the members' replies, which come from other executors. Use the object on the executor
/// of the client that asks.
template <typename T>
struct gathering {
    gathering(std::shared_ptr<sync::engine> of, std::size_t size)
        : home{std::move(of)}
        , wake{home->time().make_alarm()}
        , replies(size)
        , open{size} {}
    void arrived(std::size_t which, reply_of<T> said) {
        if (!wake) // no caller waits for the replies any more
            return;
        replies[which] = std::move(said);
        --open;
        wake->ring();
    }
    const std::shared_ptr<sync::engine> home;
    std::unique_ptr<alarm> wake; ///< null when no caller waits any more
    std::vector<reply_of<T>> replies;
    std::size_t open;
};

template <typename T>
reply_of<T> as_reply(const std::exception_ptr& thrown, T value) {
    reply_of<T> said;
    try {
        if (thrown)
            std::rethrow_exception(thrown);
        said.value = std::move(value);
    } catch (const boost::system::system_error& e) {
        said.why = {e.code(), e.what()};
    }
    return said;
}

template <typename T>
using work_on = std::function<asio::awaitable<T>(const sync::lock_descriptor&)>;

/// Runs `work` for a member on the member's own executor.
template <typename T>
asio::awaitable<T> work_of(member who, work_on<T> work) {
    if (who->home->stopped())
        throw boost::system::system_error{make_error_code(errc::closed)};
    co_return co_await work(*who);
}

template <typename T>
void ask_member(const std::shared_ptr<gathering<T>>& all, std::size_t which, const member& who,
                const work_on<T>& work) {
    auto arrive = [all, which](const std::exception_ptr& thrown, T value) {
        auto deliver = [all, which, said = as_reply<T>(thrown, std::move(value))]() mutable {
            all->arrived(which, std::move(said));
        };
        (void)all->home->executor_access().post(std::move(deliver));
    };
    auto begin = [who, work, arrive = std::move(arrive)]() mutable {
        asio::co_spawn(who->home->executor(), work_of<T>(who, work), std::move(arrive));
    };
    if (!who->home->executor_access().post(std::move(begin)))
        all->arrived(which, {.why = {make_error_code(errc::closed), "its client is closed"}});
}

/// Time within which an executor that runs has certainly replied.
constexpr duration executor_timeout = std::chrono::seconds{1};

/// Extra time for late replies, after the earlier replies have already decided the result.
constexpr duration stragglers_timeout{100};

/// Returns the replies in the order of the members. If a member's executor is not running, the
/// member counts as failed after its store's time limit. `decided` returns true when the missing
/// replies cannot change the result; from then on the call waits only `stragglers_timeout` longer.
template <typename T>
asio::awaitable<std::vector<reply_of<T>>>
ask_members(const composite_descriptor& of, work_on<T> work,
            std::function<bool(const std::vector<reply_of<T>>&)> decided) {
    const std::shared_ptr<sync::engine> home = of.home;
    const auto all = std::make_shared<gathering<T>>(home, of.members.size());
    duration longest{};
    for (std::size_t which = 0; which < of.members.size(); ++which) {
        all->replies[which].why = {make_error_code(errc::unreachable), "it did not answer"};
        longest = std::max(longest, of.members[which]->home->bounds().time_limit);
        ask_member<T>(all, which, of.members[which], work);
    }
    time_point limit = sync::later(home->now(), longest + executor_timeout);
    for (bool enough = false; all->open > 0 && home->now() < limit && !home->stopped();) {
        if (!enough && decided(all->replies)) {
            enough = true;
            limit = std::min(limit, sync::later(home->now(), stragglers_timeout));
        }
        co_await home->nap(*all->wake, limit);
    }
    all->wake.reset();
    co_return std::move(all->replies);
}

/// Combines the replies of all members. If another caller can still get enough members, returns
/// nothing. Otherwise returns the state of the whole lock; its `remaining` says for how long no
/// other caller can get enough members. If too few members have replied for a decision, throws the
/// first failure.
std::optional<holding> as_one(const composite_descriptor&,
                              std::vector<reply_of<std::optional<holding>>>);

/// Returns whether the missing replies can no longer change the result of as_one(). The list must
/// contain each member without a reply as failed.
bool is_decided(const composite_descriptor&, const std::vector<reply_of<std::optional<holding>>>&);

/// Returns whether the missing replies can no longer change the result of any_of().
bool is_decided(const composite_descriptor&, const std::vector<reply_of<bool>>&);

/// Returns whether any member replied true. Throws the first failure if so many members failed that
/// the lock may still be held.
bool any_of(const composite_descriptor&, const std::vector<reply_of<bool>>&);

/// Combines the replies about several members' holds into one result. The result is a success if at
/// least `needs` replies are successes. Use it on the executor of the hold's client.
class tally : public std::enable_shared_from_this<tally> {
public:
    using lock_handles = std::vector<std::shared_ptr<sync::lock_handle>>;
    using verb = std::function<void(sync::lock_handle&, sync::release_handler)>;

    static verb let_go();
    static verb extend(duration length);

    /// Sends the request `what` to each member's hold on that hold's own executor, and calls `done`
    /// once. If the executor of a member's hold is not running, the member counts as failed after
    /// `timeout` plus one second.
    static void ask(const std::shared_ptr<sync::engine>& home, const lock_handles& parts,
                    std::size_t needs, duration timeout, verb what, sync::release_handler done);

    tally(std::shared_ptr<sync::engine> home, std::size_t asked, std::size_t needs,
          sync::release_handler done);

private:
    static asio::awaitable<void> expire(std::shared_ptr<tally>, duration timeout);
    void answered(const sync::failure&);
    void send(const std::shared_ptr<sync::lock_handle>&, const verb&);
    void finish();
    sync::failure verdict() const;

    const std::shared_ptr<sync::engine> home_;
    std::optional<sync::engine::task> busy_; // close() waits for this task
    const std::size_t asked_, needs_;
    std::size_t answered_ = 0, well_ = 0, lost_ = 0;
    sync::failure worst_{};
    sync::release_handler done_;
    std::unique_ptr<alarm> wake_; // while a timeout is pending
};

} // namespace holdfast::compose
