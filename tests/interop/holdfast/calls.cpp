// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/calls.hpp"

#include "interop/holdfast/counter_calls.hpp"

#include <map>
#include <stdexcept>
#include <type_traits>

namespace holdfast::interop {

void actor::run(task what) {
    const std::scoped_lock guard{mutex_};
    tasks_.push_back(std::move(what));
    something_.notify_one();
}

void actor::interrupt() {
    std::stop_source now;
    {
        const std::scoped_lock guard{mutex_};
        now = interruption_;
    }
    now.request_stop();
}

void actor::play(const std::stop_token& over) {
    for (;;) {
        std::unique_lock guard{mutex_};
        if (!something_.wait(guard, over, [this] { return !tasks_.empty(); }))
            return;
        const task next = std::move(tasks_.front());
        tasks_.pop_front();
        interruption_ = {};
        const std::stop_token interrupted = interruption_.get_token();
        guard.unlock();
        next(interrupted);
    }
}

namespace {

any_lock& any_lock_of(const call& of) {
    return of.at.lock(of.object.substr(0, of.object.find('/')), of.name);
}

basic_mutex& lock_of(const call& of) {
    return of.at.side(of.object, of.name);
}

std::vector<lease>& leases_of(const call& of) {
    return of.at.leases(of.actor, of.object, of.name);
}

/// Redisson: −2 free, −1 without an end.
std::int64_t time_to_live(std::optional<duration> left) {
    if (!left)
        return -2;
    return *left == duration::max() ? -1 : left->count();
}

void take(const call& of, std::stop_token cancel) {
    if (of.lengths.empty())
        lock_of(of).lock(std::move(cancel));
    else
        lock_of(of).lock(lease_time{of.lengths.at(0)}, std::move(cancel));
}

bool try_to_take(const call& of) {
    if (of.lengths.empty())
        return lock_of(of).try_lock();
    if (of.lengths.size() == 1)
        return lock_of(of).try_lock_for(of.lengths[0], of.interrupted);
    return lock_of(of).try_lock_for(of.lengths[0], lease_time{of.lengths[1]}, of.interrupted);
}

void release(const call& of) {
    error_code failure;
    lock_of(of).unlock(failure);
    if (failure)
        throw boost::system::system_error{failure};
}

std::size_t hold_count(const call& of) {
    std::size_t count = lock_of(of).hold_count();
    for (const lease& held : leases_of(of))
        count += held.owns_lock() ? 1 : 0;
    return count;
}

/// Of the actor's own hold. A JVM is told of any: it has no other number than the last.
std::uint64_t token(const call& of) {
    const auto& lock = std::get<fenced_mutex>(any_lock_of(of));
    if (!leases_of(of).empty())
        return leases_of(of).back().fencing_token();
    const std::uint64_t own = lock.fencing_token();
    return own != 0 ? own : lock.last_token();
}

using blocking_call = json::value (*)(const call&);

const std::map<std::string, blocking_call>& blocking_calls() {
    static const std::map<std::string, blocking_call> all{
        {"lock", [](const call& of) { return take(of, {}), json::value{}; }},
        {"lockInterruptibly",
         [](const call& of) { return take(of, of.interrupted), json::value{}; }},
        {"tryLock", [](const call& of) -> json::value { return try_to_take(of); }},
        {"lockAndGetToken", [](const call& of) -> json::value { return take(of, {}), token(of); }},
        {"getToken", [](const call& of) -> json::value { return token(of); }},
        {"unlock", [](const call& of) { return release(of), json::value{}; }},
        {"forceUnlock", [](const call& of) -> json::value { return lock_of(of).force_unlock(); }},
        {"isLocked", [](const call& of) -> json::value { return lock_of(of).is_locked(); }},
        {"isHeldByCurrentThread", [](const call& of) -> json::value { return hold_count(of) > 0; }},
        {"getHoldCount", [](const call& of) -> json::value { return hold_count(of); }},
        {"remainTimeToLive",
         [](const call& of) -> json::value { return time_to_live(lock_of(of).remaining_lease()); }},
    };
    return all;
}

auto keep_lease(const call& of, answer_to_call done) {
    return on_loop(of, [&held = leases_of(of), done](error_code failure, lease taken) {
        if (!failure)
            held.push_back(std::move(taken));
        done(failure, {});
    });
}

auto keep_lease_if_any(const call& of, answer_to_call done) {
    return on_loop(of,
                   [&held = leases_of(of), done](error_code failure, std::optional<lease> taken) {
                       if (taken)
                           held.push_back(std::move(*taken));
                       done(failure, taken.has_value());
                   });
}

constexpr const char* readers = "getReadWriteLock/readLock";
constexpr const char* writers = "getReadWriteLock/writeLock";

/// Beside the write hold that the actor has; else a hold of its own, also where it has one.
void read_later(const call& of, answer_to_call done) {
    auto& lock = std::get<shared_mutex>(any_lock_of(of));
    const std::vector<lease>& exclusive = of.at.leases(of.actor, writers, of.name);
    if (!exclusive.empty())
        lock.async_lock_shared(exclusive.back(), keep_lease(of, std::move(done)));
    else if (of.lengths.empty())
        lock.async_lock_shared(keep_lease(of, std::move(done)));
    else
        lock.async_lock_shared(lease_time{of.lengths[0]}, keep_lease(of, std::move(done)));
}

void take_again_later(const call& of, answer_to_call done) {
    const auto take_again = [&](auto& lock) {
        using kind = std::remove_reference_t<decltype(lock)>;
        if constexpr (std::is_same_v<kind, mutex> || std::is_same_v<kind, shared_mutex> ||
                      std::is_same_v<kind, multi_mutex>)
            done(make_error_code(errc::already_held), {});
        else
            lock.async_lock(leases_of(of).back(), keep_lease(of, std::move(done)));
    };
    std::visit(take_again, any_lock_of(of));
}

void take_later(const call& of, answer_to_call done) {
    basic_mutex& lock = lock_of(of);
    if (of.object == readers)
        read_later(of, std::move(done));
    else if (!leases_of(of).empty())
        take_again_later(of, std::move(done));
    else if (of.lengths.empty())
        lock.async_lock(keep_lease(of, std::move(done)));
    else
        lock.async_lock(lease_time{of.lengths[0]}, keep_lease(of, std::move(done)));
}

void try_to_take_later(const call& of, answer_to_call done) {
    basic_mutex& lock = lock_of(of);
    if (of.lengths.empty())
        lock.async_try_lock(keep_lease_if_any(of, std::move(done)));
    else if (of.lengths.size() == 1)
        lock.async_try_lock_for(of.lengths[0], keep_lease_if_any(of, std::move(done)));
    else
        lock.async_try_lock_for(of.lengths[0], lease_time{of.lengths[1]},
                                keep_lease_if_any(of, std::move(done)));
}

void release_later(const call& of, answer_to_call done) {
    std::vector<lease>& held = leases_of(of);
    if (held.empty())
        return done(make_error_code(errc::not_owner), {});
    lease last = std::move(held.back());
    held.pop_back();
    std::move(last).async_unlock(on_loop(of, [done](error_code failure) { done(failure, {}); }));
}

void tell_whether(const call& of, answer_to_call done, bool forcing) {
    auto tell = on_loop(of, [done](error_code failure, bool is_so) { done(failure, is_so); });
    if (forcing)
        lock_of(of).async_force_unlock(std::move(tell));
    else
        lock_of(of).async_is_locked(std::move(tell));
}

void tell_time_to_live(const call& of, answer_to_call done) {
    lock_of(of).async_remaining_lease(
        on_loop(of, [done](error_code failure, std::optional<duration> left) {
            done(failure, time_to_live(left));
        }));
}

using later_call = void (*)(const call&, answer_to_call);

const std::map<std::string, later_call>& later_calls() {
    static const std::map<std::string, later_call> all{
        {"lockAsync", take_later},
        {"tryLockAsync", try_to_take_later},
        {"unlockAsync", release_later},
        {"forceUnlockAsync",
         [](const call& of, answer_to_call done) { tell_whether(of, std::move(done), true); }},
        {"isLockedAsync",
         [](const call& of, answer_to_call done) { tell_whether(of, std::move(done), false); }},
        {"remainTimeToLiveAsync", tell_time_to_live},
    };
    return all;
}

} // namespace

bool is_asynchronous(const std::string& method) {
    return later_calls().contains(method) || is_asynchronous_of_counter(method);
}

json::value answer(const call& of) {
    if (is_of_counter(of))
        return answer_of_counter(of);
    const auto found = blocking_calls().find(of.method);
    if (found == blocking_calls().end())
        throw std::invalid_argument{"no " + of.method + " here"};
    return found->second(of);
}

void answer_later(const call& of, answer_to_call done) {
    if (is_of_counter(of))
        return answer_of_counter_later(of, std::move(done));
    later_calls().at(of.method)(of, std::move(done));
}

} // namespace holdfast::interop
