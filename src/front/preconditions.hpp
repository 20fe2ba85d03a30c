// SPDX-License-Identifier: Apache-2.0
// Checks that every public function makes before it does anything else.
#pragma once

#include "runtime/monitor.hpp"
#include "sync/engine.hpp"
#include "sync/lock_handle.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::front {

using sync::worded_error;

inline sync::failure forked() {
    return {make_error_code(errc::forked),
            "this object was made before fork(): use one that this process made"};
}

inline sync::failure closed() {
    return {make_error_code(errc::closed), "the client is closed"};
}

/// Returns whether this thread runs the client's executor. Returns false if the executor has ended.
inline bool runs_here(const sync::engine& home) {
    bool here = false;
    (void)home.executor_access().use(
        [&here](const asio::any_io_executor& to) { here = runtime::runs_here(to); });
    return here;
}

/// Returns why this thread must not make a blocking call. The returned code is empty if the thread
/// may make the call. After a close, the function does not use the executor or the clock, because
/// they may be destroyed.
inline sync::failure objection_to_blocking(const sync::engine& home) {
    if (home.forked())
        return forked();
    if (home.stopped())
        return closed();
    if (runs_here(home))
        return {make_error_code(errc::would_deadlock),
                "a blocking call on the client's own executor would wait for itself: use the "
                "async_ function"};
    return {};
}

/// Returns whether this thread runs the executor of one of the clients. Such a thread must not wait
/// for the call, because the thread would wait for itself.
inline bool runs_one_of(const std::vector<const sync::engine*>& homes) {
    return std::ranges::any_of(
        homes, [](const sync::engine* each) { return !each->forked() && runs_here(*each); });
}

inline sync::failure objection_to_blocking(const sync::engine& home,
                                           const std::vector<const sync::engine*>& homes_of_parts) {
    if (runs_one_of(homes_of_parts))
        return {make_error_code(errc::would_deadlock),
                "a blocking call on the executor of a member's client would wait for itself: use "
                "the async_ function"};
    return objection_to_blocking(home);
}

/// Returns why this thread must not make a blocking call on a lock (first function) or on a hold
/// (second function). If the lock consists of several locks, the clients of all its members are
/// checked.
inline sync::failure objection_to_blocking(const sync::lock_descriptor& lock) {
    if (!lock.is_joint())
        return objection_to_blocking(*lock.home);
    return objection_to_blocking(*lock.home, lock.homes());
}
inline sync::failure objection_to_blocking(const sync::lock_handle& held) {
    return objection_to_blocking(*held.home, held.homes_of_parts());
}

/// Returns why no work can be posted to the executor: this process is a child of fork(), or the
/// executor has ended.
inline error_code objection_to_posting(const sync::engine& home) {
    if (home.forked())
        return make_error_code(errc::forked);
    return home.gone() ? make_error_code(errc::closed) : error_code{};
}

inline void throw_if(sync::failure why) {
    if (why.code)
        throw worded_error{std::move(why)};
}

} // namespace holdfast::front
