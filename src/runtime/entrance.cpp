// SPDX-License-Identifier: Apache-2.0
// How a monitor is found, entered and left. These functions use no thread-local state, unlike those
// in visit.cpp and monitor.cpp. So a shared library of a component can contain a second copy of
// them (tools/mysql.cmake).
#include "runtime/monitor_executor.hpp"
#include "runtime/pause.hpp"

namespace holdfast::runtime {
namespace {

/// Number of attempts to lock the mutex before the thread sleeps. They take about two microseconds,
/// as long as most work inside a monitor, and less than sleeping and waking up. The number was
/// measured with 4, 16 and 64 threads on one lock. With fewer attempts threads sleep too often;
/// with more they take the core from the thread inside.
constexpr int tries = 100;

} // namespace

monitor* monitor::of(const asio::any_io_executor& executor) {
    const auto* const ours = executor.target<plain_executor>();
    return ours && !ours->of_visit() ? &ours->where() : nullptr;
}

void visit::enter() {
    for (int i = 0; i < tries && !alone_; ++i)
        if (!alone_.try_lock())
            pause_processor();
    if (!alone_)
        alone_.lock();
    monitor_.visitor_ = this;
}

void visit::leave() noexcept {
    monitor_.visitor_ = nullptr;
    alone_.unlock();
}

void visit::wake() noexcept {
    for (const sleeper& one : to_wake_)
        one.ready->post();
    to_wake_.clear();
}

void visit::leave_for(interruptible& what) noexcept {
    waits_for_ = &what;
    leave();
    wake();
}

void visit::come_back() {
    enter();
    waits_for_ = nullptr;
}

} // namespace holdfast::runtime
