// SPDX-License-Identifier: Apache-2.0
// Functions that handle the end of a user's execution context. The context may end while threads
// still hold locks. Functions that were posted to the context may then never run.
#pragma once

#include "runtime/clock.hpp"
#include "runtime/environment.hpp"
#include "sync/engine.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace holdfast::front {

/// Deleter of an engine. The deleter runs on the thread that drops the last reference, which may be
/// any thread. If the execution context ends on another thread at the same time, the context waits
/// until the engine is destroyed, because the engine's sockets and timer use the context.
///
/// Does not destroy an engine in a child of fork(). Parent and child share the epoll set, so the
/// child would remove the parent's sockets from it.
class engine_deleter {
public:
    void operator()(sync::engine*) const;

    /// State that the deleter and the context share.
    class destruction {
    public:
        /// Waits until the engine is destroyed. Call it only after the last reference to the engine
        /// is gone. Does not wait on the thread that destroys the engine. Does not wait in a child
        /// of fork() either, where that thread may not exist.
        void wait() const;
        bool is_over() const { return over_; }

    private:
        friend class engine_deleter;
        const std::uint64_t process_ = runtime::fork_generation();
        std::atomic<std::thread::id> by_{};
        std::atomic<bool> over_ = false;
    };
    const std::shared_ptr<destruction>& end() const { return end_; }

private:
    std::shared_ptr<destruction> end_ = std::make_shared<destruction>();
};

/// Prepares for the end of the executor's context (for example, of the user's `io_context`). Just
/// before the context is destroyed, two things happen. The engine `home` drops its holds, so that a
/// thread which ends later does not use the destroyed context. The clock `own` drops its sleeping
/// coroutines, which would otherwise keep themselves alive for ever.
void let_go_with_context(const std::shared_ptr<sync::engine>& home,
                         const std::shared_ptr<runtime::real_clock>& own = nullptr);

} // namespace holdfast::front
