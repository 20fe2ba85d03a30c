// SPDX-License-Identifier: Apache-2.0
// Questions to the stores of all members, which take nothing.
#pragma once

#include "compose/joint_subject.hpp"
#include "sync/engine.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::compose {

/// A value or a failure.
template <typename T>
struct reply_of {
    std::optional<T> value{};
    sync::failure why{};
};

/// Answers that come from other executors. On the executor of who gathers them.
template <typename T>
struct gathering {
    gathering(std::shared_ptr<sync::engine> of, std::size_t size)
        : home{std::move(of)}
        , wake{home->time().make_alarm()}
        , replies(size)
        , open{size} {}
    void arrived(std::size_t which, reply_of<T> said) {
        if (!wake) // whoever waited has gone, with the replies
            return;
        replies[which] = std::move(said);
        --open;
        wake->ring();
    }
    const std::shared_ptr<sync::engine> home;
    std::unique_ptr<alarm> wake; ///< while somebody waits
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
using work_on = std::function<asio::awaitable<T>(const sync::subject&)>;

/// On the member's own executor.
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
        (void)all->home->reach().post(std::move(deliver));
    };
    auto begin = [who, work, arrive = std::move(arrive)]() mutable {
        asio::co_spawn(who->home->executor(), work_of<T>(who, work), std::move(arrive));
    };
    if (!who->home->reach().post(std::move(begin)))
        all->arrived(which, {.why = {make_error_code(errc::closed), "its client is closed"}});
}

/// An executor that runs has answered by then.
constexpr duration executor_patience = std::chrono::seconds{1};

/// So much longer the others are waited for when enough have answered.
constexpr duration stragglers_patience{100};

/// Returns the replies in the order of the members. A member whose executor nobody runs has failed
/// when its store's time limit is over. The others are hardly waited for when `decided` says that
/// they cannot change the result.
template <typename T>
asio::awaitable<std::vector<reply_of<T>>>
ask_members(const joint_subject& of, work_on<T> work,
            std::function<bool(const std::vector<reply_of<T>>&)> decided) {
    const std::shared_ptr<sync::engine> home = of.home;
    const auto all = std::make_shared<gathering<T>>(home, of.members.size());
    duration longest{};
    for (std::size_t which = 0; which < of.members.size(); ++which) {
        all->replies[which].why = {make_error_code(errc::unreachable), "it did not answer"};
        longest = std::max(longest, of.members[which]->home->bounds().time_limit);
        ask_member<T>(all, which, of.members[which], work);
    }
    time_point limit = sync::later(home->now(), longest + executor_patience);
    for (bool enough = false; all->open > 0 && home->now() < limit && !home->stopped();) {
        if (!enough && decided(all->replies)) {
            enough = true;
            limit = std::min(limit, sync::later(home->now(), stragglers_patience));
        }
        co_await home->nap(*all->wake, limit);
    }
    all->wake.reset();
    co_return std::move(all->replies);
}

/// So many hold it that nobody else could have what is needed; for how long. Throws if too few
/// answered to say so.
std::optional<holding> as_one(const joint_subject&, std::vector<reply_of<std::optional<holding>>>);

/// Whether the members that have not answered cannot change any more what as_one() says. They count
/// as failed.
bool is_decided(const joint_subject&, const std::vector<reply_of<std::optional<holding>>>&);

/// The same for any_of().
bool is_decided(const joint_subject&, const std::vector<reply_of<bool>>&);

/// Whether it was so for one of them. Throws if so many failed that it may be held still.
bool any_of(const joint_subject&, const std::vector<reply_of<bool>>&);

} // namespace holdfast::compose
