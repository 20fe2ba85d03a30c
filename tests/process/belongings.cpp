// SPDX-License-Identifier: Apache-2.0
#include "process/belongings.hpp"

namespace holdfast::process {
namespace {

constexpr lease_time a_minute{1min};

/// Returns the error code that a call throws.
template <typename Call>
std::function<error_code()> code_of(Call call) {
    return [call] { return thrown_by(call).code; };
}

/// The same of what completes a future.
template <typename Start>
std::function<error_code()> outcome_of(Start start) {
    return [start] { return thrown_by([&] { (void)soon(start(asio::use_future)); }).code; };
}

} // namespace

named_calls<error_code> blocking_verbs(belongings& my) {
    mutex& m = my.stock;
    return {
        {"lock()", code_of([&] { m.lock(); })},
        {"lock(lease)", code_of([&] { m.lock(a_minute); })},
        {"lock() again", code_of([&] { my.shelf.lock(); })},
        {"try_lock()", code_of([&] { (void)m.try_lock(); })},
        {"try_lock(lease)", code_of([&] { (void)m.try_lock(a_minute); })},
        {"try_lock_for()", code_of([&] { (void)m.try_lock_for(1s); })},
        {"try_lock_for(lease)", code_of([&] { (void)m.try_lock_for(1s, a_minute); })},
        {"try_lock_until()",
         code_of([&] { (void)m.try_lock_until(std::chrono::steady_clock::now() + 1s); })},
        {"lock() of a fair lock", code_of([&] { my.line.lock(); })},
        {"lock() of a fenced lock", code_of([&] { my.report.lock(); })},
        {"last_token()", code_of([&] { (void)my.report.last_token(); })},
        {"lock_shared()", code_of([&] { my.prices.lock_shared(); })},
        {"try_lock_shared()", code_of([&] { (void)my.prices.try_lock_shared(); })},
        {"try_lock_shared_for()", code_of([&] { (void)my.prices.try_lock_shared_for(1s); })},
        {"try_upgrade_for()", code_of([&] { (void)my.prices.try_upgrade_for(1s); })},
        {"is_locked()", code_of([&] { (void)m.is_locked(); })},
        {"remaining_lease()", code_of([&] { (void)m.remaining_lease(); })},
        {"force_unlock()", code_of([&] { m.force_unlock(); })},
        {"extend()", code_of([&] { my.held.extend(a_minute); })},
        {"unlock(ec)",
         [&] {
             error_code ec;
             my.shelf.unlock(ec);
             return ec;
         }},
        {"lease::unlock(ec)",
         [&] {
             error_code ec;
             my.held.unlock(ec);
             return ec;
         }},
    };
}

named_calls<error_code> asynchronous_verbs(belongings& my) {
    mutex& m = my.stock;
    return {
        {"async_lock()", outcome_of([&](auto token) { return m.async_lock(token); })},
        {"async_lock(lease)",
         outcome_of([&](auto token) { return m.async_lock(a_minute, token); })},
        {"async_lock(outer)",
         outcome_of([&](auto token) { return my.shelf.async_lock(my.held, token); })},
        {"async_try_lock()", outcome_of([&](auto token) { return m.async_try_lock(token); })},
        {"async_try_lock_for()",
         outcome_of([&](auto token) { return m.async_try_lock_for(1s, token); })},
        {"async_lock() of a fair lock",
         outcome_of([&](auto token) { return my.line.async_lock(token); })},
        {"async_lock_shared()",
         outcome_of([&](auto token) { return my.prices.async_lock_shared(token); })},
        {"async_lock_shared(exclusive)",
         outcome_of([&](auto token) { return my.prices.async_lock_shared(my.held, token); })},
        {"async_try_upgrade_for()", outcome_of([&](auto token) {
             return my.prices.async_try_upgrade_for(my.held, 1s, token);
         })},
        {"async_is_locked()", outcome_of([&](auto token) { return m.async_is_locked(token); })},
        {"async_remaining_lease()",
         outcome_of([&](auto token) { return m.async_remaining_lease(token); })},
        {"async_force_unlock()",
         outcome_of([&](auto token) { return m.async_force_unlock(token); })},
        {"async_extend()",
         outcome_of([&](auto token) { return my.held.async_extend(a_minute, token); })},
        {"async_unlock()", outcome_of([&](auto token) { return my.held.async_unlock(token); })},
        {"async_close()", outcome_of([&](auto token) { return my.home.async_close(token); })},
    };
}

} // namespace holdfast::process
