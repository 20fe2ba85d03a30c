// SPDX-License-Identifier: Apache-2.0
#include "runtime/visit.hpp"

#include "runtime/monitor_executor.hpp"
#include "runtime/pause.hpp"

#include <atomic>

#include <sys/socket.h>

namespace holdfast::runtime {
namespace {

thread_local visit* visiting = nullptr;

/// So often it is tried to enter: about a microsecond, which is what most work inside takes.
constexpr int tries = 50;

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

} // namespace

visit::visit(monitor& where)
    : monitor_{where}
    , alone_{where.mutex_, std::defer_lock} {
    if (!where.welcomes())
        return;
    enter();
    number_ = next_number();
    visiting = this;
}

visit::~visit() {
    if (!alone_)
        return;
    while (!tasks_.empty()) {
        auto due = std::exchange(tasks_, {});
        for (auto& task : due)
            std::move(task)();
    }
    visiting = nullptr;
    alone_.unlock();
    wake();
}

void visit::wake_behind(semaphore& ready, std::shared_ptr<void> keep) {
    wake(); // one more than usual: that one finds us inside
    to_wake_ = &ready;
    keeps_ = std::move(keep);
}

void visit::wake() noexcept {
    if (to_wake_)
        std::exchange(to_wake_, nullptr)->post();
}

visit* visit::here() noexcept {
    return visiting;
}

asio::any_io_executor visit::executor() {
    return monitor::plain_executor{monitor_, monitor_.background_.get_executor(), number_};
}

void visit::leave_for(int socket) noexcept {
    socket_ = socket;
    alone_.unlock();
}

void visit::come_back() {
    enter();
    socket_ = -1;
}

void visit::enter() {
    for (int i = 0; i < tries; ++i) {
        if (alone_.try_lock())
            return;
        pause_processor();
    }
    alone_.lock();
}

void visit::interrupt() noexcept {
    if (socket_ >= 0)
        ::shutdown(socket_, SHUT_RDWR);
}

} // namespace holdfast::runtime
