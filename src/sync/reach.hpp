// SPDX-License-Identifier: Apache-2.0
// How others come to a client's executor, which may end while they try: another client, that is,
// with a thread of its own.
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/post.hpp>

#include <mutex>
#include <utility>

namespace holdfast::sync {

/// Thread safety: every member, any thread.
class reach {
public:
    explicit reach(asio::any_io_executor to)
        : to_{std::move(to)} {}
    reach(const reach&) = delete;

    /// False: nothing runs there any more, and `what` is destroyed unused. So it is, too, if the
    /// context ends before it came to it.
    template <typename What>
    bool post(What&& what) const {
        const std::scoped_lock guard{mutex_};
        if (!to_)
            return false;
        asio::post(to_, std::forward<What>(what));
        return true;
    }

    /// Whether both lead to one executor: then whoever runs there has come to either.
    bool leads_where(const reach& other) const {
        if (this == &other)
            return true;
        const std::scoped_lock guard{mutex_, other.mutex_};
        return to_ && other.to_ && to_ == other.to_;
    }

    /// Empty: it has ended.
    asio::any_io_executor executor() const {
        const std::scoped_lock guard{mutex_};
        return to_;
    }

    void end() noexcept {
        const std::scoped_lock guard{mutex_};
        to_ = {};
    }

private:
    mutable std::mutex mutex_;
    asio::any_io_executor to_;
};

} // namespace holdfast::sync
