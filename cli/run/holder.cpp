// SPDX-License-Identifier: Apache-2.0
#include "cli/run/holder.hpp"

#include "cli/look/lock_words.hpp"
#include "cli/run/asked_count.hpp"
#include "cli/terminal/say.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

/// Returns whether the owner can be described by more than a number. A holdfast client without
/// client information has only a number.
bool is_known(const holdfast::lock_owner& owner) {
    return owner.client || !owner.is_holdfast;
}

/// Returns whether the waiter may still have its entry in the queue. Some servers do not tell how
/// long the entry lasts. Then the result is true.
bool still_waits(const holdfast::lock_waiter& waits) {
    return !waits.remaining || *waits.remaining > holdfast::duration::zero();
}

bool is_counted(const locked_run& wanted) {
    return wanted.slots || wanted.rate;
}

std::string told_of(const holdfast::lock_state& lock, wording form) {
    if (!lock.is_held) {
        const auto next = std::ranges::find_if(lock.waiters, still_waits);
        return next == lock.waiters.end() ? "free"
                                          : "free, and it is the turn of " + waiter_in_words(*next);
    }
    if (lock.owners.empty() || std::ranges::any_of(lock.owners, is_known))
        return "held by " +
               (form == wording::brief ? owners_in_short(lock) : owners_in_words(lock));
    if (ends_with_session(lock))
        return "held until its holder's session ends";
    return lock.remaining ? "held on a lease with " + in_words(*lock.remaining) + " left"
                          : "held without end";
}

} // namespace

asio::awaitable<std::string> who_holds(holdfast::client& home, std::string name, wording form) {
    const std::optional<holdfast::lock_state> found =
        co_await home.async_inspect(std::move(name), asio::use_awaitable);
    co_return found ? printable(told_of(*found, form), 500) : "";
}

asio::awaitable<void> refuse_if_another(holdfast::client& home, std::string name,
                                        holdfast::lock_kind wanted) {
    std::optional<holdfast::lock_state> found;
    try {
        found = co_await home.async_inspect(std::move(name), asio::use_awaitable);
    } catch (const boost::system::system_error& failure) {
        if (failure.code() == asio::error::operation_aborted)
            throw;
    }
    if (found && found->kind == holdfast::key_kind::other)
        throw not_a_lock{found->type};
    if (found && found->kind == holdfast::key_kind::token_lock)
        throw not_a_lock{found->type + " (perhaps of a token_mutex)"};
    if (found && found->kind == holdfast::key_kind::read_write_lock && !can_be_shared(wanted))
        throw kept_to_share{};
}

asio::awaitable<void> refuse_if_any_is_another(clients& homes, const locked_run& wanted) {
    // in these cases the server itself refuses a key of another type
    if (homes.size() > 1 || is_counted(wanted))
        co_return;
    co_await refuse_if_another(homes.front(), wanted.name, wanted.kind);
    for (const std::string& each : wanted.with)
        co_await refuse_if_another(homes.front(), each, wanted.kind);
}

asio::awaitable<std::string> who_holds_one(clients& homes, const locked_run& wanted, wording form) {
    if (is_counted(wanted))
        co_return co_await how_it_stands(homes.front(), wanted);
    std::exception_ptr failed;
    for (holdfast::client& home : homes) {
        try {
            std::string told = co_await who_holds(home, wanted.name, form);
            for (const std::string& each : wanted.with) {
                if (!told.empty())
                    break;
                told = co_await who_holds(home, each, form);
                if (!told.empty())
                    told.insert(0, "'" + printable(each, 40) + "' is ");
            }
            co_return told;
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == asio::error::operation_aborted)
                throw;
            failed = std::current_exception();
        }
    }
    std::rethrow_exception(failed);
}

} // namespace cli
