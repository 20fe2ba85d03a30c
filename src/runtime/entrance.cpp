// SPDX-License-Identifier: Apache-2.0
// How a monitor is found, entered and left. It is apart from visits and monitors, which have state
// of each thread: a component beside a shared core has this once more (tools/mysql.cmake).
#include "runtime/monitor_executor.hpp"
#include "runtime/pause.hpp"

namespace holdfast::runtime {
namespace {

/// So often it is tried to enter: about two microseconds, which is what most work inside takes,
/// while to sleep and be woken takes longer than all of it. Measured with 4, 16 and 64 threads on
/// one lock: fewer tries sleep too often, more keep the core from whoever is inside.
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
