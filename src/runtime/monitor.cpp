// SPDX-License-Identifier: Apache-2.0
#include "runtime/monitor.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::runtime {

const monitor*& monitor::inside_guard::here() noexcept {
    thread_local const monitor* where = nullptr;
    return where;
}

asio::any_io_executor monitor::executor() {
    return plain_executor{*this, background_.get_executor()};
}

bool monitor::runs_here() const {
    return background_.get_executor().running_in_this_thread();
}

bool monitor::is_inside() const {
    return runs_here() && inside_guard::here() == this;
}

namespace {

// Innermost unfinished inline call of this thread (a call that the thread runs inside a monitor).
// Null if this thread runs no inline call.
thread_local inline_call* innermost = nullptr;

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

inline_call::inline_call(monitor& where)
    : monitor_{where}
    , outer_{innermost}
    , alone_{where.mutex_, std::defer_lock} {
    if (!where.welcomes() || here(where))
        return;
    enter();
    number_ = next_number();
    innermost = this;
}

inline_call::~inline_call() {
    if (!alone_)
        return;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
        // Move the task out of the vector before the task is called. The task may add tasks to the
        // vector, which then moves its elements.
        auto due = std::move(tasks_[i]);
        std::move(due)();
    }
    innermost = outer_;
    leave();
    wake();
}

void inline_call::wake_behind(semaphore& ready, std::shared_ptr<void> keep) {
    to_wake_.push_back({&ready, std::move(keep)});
}

inline_call* inline_call::here(const monitor& where) noexcept {
    inline_call* one = innermost;
    while (one && &one->monitor_ != &where)
        one = one->outer_;
    return one;
}

asio::any_io_executor inline_call::executor() {
    return monitor::plain_executor{monitor_, monitor_.background_.get_executor(), number_};
}

void inline_call::interrupt() noexcept {
    interrupted_ = true;
    if (waits_for_)
        waits_for_->interrupt();
}

struct loop::inside {
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    monitor client_monitor{io};
    real_clock time{client_monitor.executor()};
};

namespace {

template <typename Executor>
bool is_here(const asio::any_io_executor& executor) {
    const auto* const bare = executor.target<Executor>();
    if (bare)
        return bare->running_in_this_thread();
    const auto* const strand = executor.target<asio::strand<Executor>>();
    return strand && (strand->running_in_this_thread() ||
                      strand->get_inner_executor().running_in_this_thread());
}

} // namespace

loop::loop()
    : inside_{std::make_shared<inside>()}
    , thread_{start_thread([mine = inside_] { mine->io.run(); })} {}

loop::~loop() {
    inside_->work.reset();
    inside_->io.stop();
    if (thread_.get_id() == std::this_thread::get_id())
        thread_.detach();
    else
        thread_.join();
}

asio::any_io_executor loop::executor() const {
    return inside_->client_monitor.executor();
}

clock& loop::time() const {
    return inside_->time;
}

bool runs_here(const asio::any_io_executor& executor) {
    if (const monitor* const client_monitor = monitor::of(executor))
        return client_monitor->runs_here() || inline_call::here(*client_monitor);
    if (const auto* const wrapped = executor.target<asio::strand<asio::any_io_executor>>())
        return wrapped->running_in_this_thread() || runs_here(wrapped->get_inner_executor());
    return is_here<asio::io_context::executor_type>(executor) ||
           is_here<asio::thread_pool::executor_type>(executor);
}

bool is_inside(const asio::any_io_executor& executor) {
    if (const monitor* const client_monitor = monitor::of(executor))
        return client_monitor->is_inside();
    const auto in = [](const auto* known) { return known && known->running_in_this_thread(); };
    using context = asio::io_context::executor_type;
    using pool = asio::thread_pool::executor_type;
    return in(executor.target<asio::strand<asio::any_io_executor>>()) ||
           in(executor.target<asio::strand<context>>()) ||
           in(executor.target<asio::strand<pool>>()) || in(executor.target<context>());
}

} // namespace holdfast::runtime
