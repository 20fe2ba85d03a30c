// SPDX-License-Identifier: Apache-2.0
#include "runtime/visit.hpp"

#include "runtime/monitor_executor.hpp"

#include <atomic>

namespace holdfast::runtime {
namespace {

// Latest visit of this thread that has not ended; null: none.
thread_local visit* innermost = nullptr;

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

visit::visit(monitor& where)
    : monitor_{where}
    , outer_{innermost}
    , alone_{where.mutex_, std::defer_lock} {
    if (!where.welcomes() || here(where))
        return;
    enter();
    number_ = next_number();
    innermost = this;
}

visit::~visit() {
    if (!alone_)
        return;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        // Moved out, because the call may add tasks, which may reallocate the vector.
        auto due = std::move(tasks_[i]);
        std::move(due)();
    }
    innermost = outer_;
    leave();
    wake();
}

void visit::wake_behind(semaphore& ready, std::shared_ptr<void> keep) {
    to_wake_.push_back({&ready, std::move(keep)});
}

visit* visit::here(const monitor& where) noexcept {
    visit* one = innermost;
    while (one && &one->monitor_ != &where)
        one = one->outer_;
    return one;
}

asio::any_io_executor visit::executor() {
    return monitor::plain_executor{monitor_, monitor_.background_.get_executor(), number_};
}

void visit::interrupt() noexcept {
    interrupted_ = true;
    if (waits_for_)
        waits_for_->interrupt();
}

} // namespace holdfast::runtime
