// SPDX-License-Identifier: Apache-2.0
// Functions that find, enter and leave a monitor. They use no thread-local state, but the functions
// in visit.cpp and monitor.cpp do. Therefore a shared library of a component can contain a second
// copy of the functions in this file (tools/mysql.cmake).
#include "runtime/monitor_executor.hpp"
#include "runtime/pause.hpp"

namespace holdfast::runtime {
namespace {

/// Number of attempts to lock the mutex before the thread sleeps. The attempts together take about
/// two microseconds. Most work inside a monitor takes as long, and sleeping and waking up takes
/// longer. The number was measured with 4, 16 and 64 threads on one lock. With fewer attempts,
/// threads sleep too often. With more attempts, they take the core from the thread inside the
/// monitor.
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
