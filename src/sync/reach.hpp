// SPDX-License-Identifier: Apache-2.0
// Access to a client's executor for threads that do not run it (`reach`). The executor may be
// destroyed while such a thread tries to use it. So these threads use the executor only through
// this class. The access is closed before the executor is destroyed.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <atomic>
#include <mutex>
#include <stop_token>
#include <utility>

namespace holdfast::sync {

/// Thread-safe access to an executor that may be destroyed. Any thread may call every function.
class reach {
public:
    /// Creates the access. `lasting` says that the executor lives as long as its client, and that
    /// nothing else can end it. Then callers that keep the client alive need no mutex.
    reach(asio::any_io_executor to, bool lasting)
        : lasting_{lasting}
        , to_{std::move(to)} {}
    reach(const reach&) = delete;

    bool lasting() const noexcept { return lasting_; }

    /// Calls `work(executor)`, and keeps the executor alive during the call. Returns false without
    /// a call if the executor has ended. The caller must keep the client alive.
    template <typename Work>
    bool use(Work&& work) const {
        if (!lasting_)
            return use_guarded(std::forward<Work>(work));
        if (closed_)
            return false;
        std::forward<Work>(work)(to_);
        return true;
    }

    /// Posts `what` to the executor. Returns false if the executor has ended. Then `what` was
    /// destroyed without a call. If the execution context ends before it runs `what`, `what` is
    /// destroyed without a call, too.
    template <typename What>
    bool post(What&& what) const {
        return use(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// Posts `what` like post(). The caller need not keep the client alive.
    template <typename What>
    bool post_from_afar(What&& what) const {
        return use_guarded(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// Returns whether both objects lead to the same executor. Then code that runs there may use
    /// both clients.
    bool leads_where(const reach& other) const {
        if (this == &other)
            return true;
        if (lasting_ || other.lasting_)
            return false; // each client has a thread of its own
        const std::scoped_lock guard{mutex_, other.mutex_};
        return to_ && other.to_ && to_ == other.to_;
    }

    /// Returns a token that is stopped when the client no longer uses the executor. Threads that
    /// wait for the executor stop waiting then.
    std::stop_token ends() const { return ends_.get_token(); }
    bool ended() const noexcept { return ends_.stop_requested(); }

    /// Closes the access. After this function returns, no other thread uses the executor.
    void close() noexcept {
        const std::scoped_lock guard{mutex_};
        closed_ = true;
        if (!lasting_)
            to_ = {};
    }

    /// Closes the access, and wakes the threads that wait for the executor.
    void end() noexcept {
        close();
        ends_.request_stop();
    }

private:
    template <typename Work>
    bool use_guarded(Work&& work) const {
        const std::scoped_lock guard{mutex_};
        if (closed_)
            return false;
        std::forward<Work>(work)(to_);
        return true;
    }

    const bool lasting_;
    mutable std::mutex mutex_;
    asio::any_io_executor to_;
    std::atomic<bool> closed_ = false;
    std::stop_source ends_;
};

} // namespace holdfast::sync
