// SPDX-License-Identifier: Apache-2.0
// The way to a client's executor for threads that do not run it. The executor may end while they
// try: it is reached only through this class, which is closed before that.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <atomic>
#include <mutex>
#include <stop_token>
#include <utility>

namespace holdfast::sync {

/// Thread safety: every member, any thread.
class reach {
public:
    /// `lasting`: the executor lives as long as its client, and nobody else can end it. Then who
    /// keeps the client needs no mutex.
    reach(asio::any_io_executor to, bool lasting)
        : lasting_{lasting}
        , to_{std::move(to)} {}
    reach(const reach&) = delete;

    bool lasting() const noexcept { return lasting_; }

    /// Calls `work(executor)`, and keeps the executor from ending meanwhile. False: it has ended,
    /// and `work` was not called. The caller keeps the client.
    template <typename Work>
    bool use(Work&& work) const {
        if (!lasting_)
            return use_guarded(std::forward<Work>(work));
        if (closed_)
            return false;
        std::forward<Work>(work)(to_);
        return true;
    }

    /// False: nothing runs there any more, and `what` is destroyed unused. It is destroyed unused
    /// too if the context ends before it came to it.
    template <typename What>
    bool post(What&& what) const {
        return use(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// The same for a caller that does not keep the client.
    template <typename What>
    bool post_from_afar(What&& what) const {
        return use_guarded(
            [&what](const asio::any_io_executor& to) { asio::post(to, std::forward<What>(what)); });
    }

    /// Whether both lead to one executor. Then code that runs on either may use both.
    bool leads_where(const reach& other) const {
        if (this == &other)
            return true;
        if (lasting_ || other.lasting_)
            return false; // a thread of its own each
        const std::scoped_lock guard{mutex_, other.mutex_};
        return to_ && other.to_ && to_ == other.to_;
    }

    /// Stops when nothing of the client is left on the executor. Threads that wait for it wait no
    /// longer then.
    std::stop_token ends() const { return ends_.get_token(); }
    bool ended() const noexcept { return ends_.stop_requested(); }

    /// When this returns, no other thread uses the executor.
    void close() noexcept {
        const std::scoped_lock guard{mutex_};
        closed_ = true;
        if (!lasting_)
            to_ = {};
    }

    /// Closes it, and wakes the threads that wait.
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
