// SPDX-License-Identifier: Apache-2.0
#include "runtime/blocking.hpp"

#include "runtime/process.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Functions that find, enter and leave a monitor, and functions with which blocking calls wait.
// Unlike the functions in monitor.cpp, these functions use no thread-local state. So a component
// that is a shared library can contain a second copy of this file (tools/mysql.cmake).

namespace holdfast::runtime {
namespace {

/// How often a thread tries to lock the mutex before it sleeps. All tries together take about two
/// microseconds, which is also how long most work inside a monitor takes. Sleeping and waking up
/// takes longer. The number was found by measurements with 4, 16 and 64 threads on one lock. With
/// fewer tries, threads sleep too often. With more tries, they take the core from the thread inside
/// the monitor.
constexpr int tries = 100;

} // namespace

monitor* monitor::of(const asio::any_io_executor& executor) {
    const auto* const ours = executor.target<plain_executor>();
    return ours && !ours->of_inline_call() ? &ours->where() : nullptr;
}

void inline_call::enter() {
    for (int i = 0; i < tries && !alone_; ++i)
        if (!alone_.try_lock())
            pause_processor();
    if (!alone_)
        alone_.lock();
    monitor_.inline_caller_ = this;
}

void inline_call::leave() noexcept {
    monitor_.inline_caller_ = nullptr;
    alone_.unlock();
}

void inline_call::wake() noexcept {
    for (const sleeper& one : to_wake_)
        one.ready->post();
    to_wake_.clear();
}

void inline_call::leave_for(interruptible& what) noexcept {
    waits_for_ = &what;
    leave();
    wake();
}

void inline_call::come_back() {
    enter();
    waits_for_ = nullptr;
}

outside_wait::~outside_wait() {
    if (nudge_ >= 0)
        ::close(nudge_);
}

bool outside_wait::prepare() noexcept {
    if (std::exchange(nudged_, false)) {
        eventfd_t any = 0;
        (void)::eventfd_read(nudge_, &any);
    }
    if (nudge_ < 0)
        nudge_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return nudge_ >= 0;
}

// The wait also returns false if a signal ends it early. The caller must then wait in another way.
bool outside_wait::until_readable(int socket, duration longest) const noexcept {
    std::array<pollfd, 2> both{{{.fd = socket, .events = POLLIN, .revents = 0},
                                {.fd = nudge_, .events = POLLIN, .revents = 0}}};
    constexpr duration hour{3'600'000}; // limit so that the milliseconds fit into an int
    const auto bound = std::clamp(longest, duration::zero(), hour);
    return ::poll(both.data(), both.size(), static_cast<int>(bound.count())) > 0 &&
           both[0].revents != 0;
}

void outside_wait::interrupt() noexcept {
    nudged_ = true;
    (void)::eventfd_write(nudge_, 1);
}

namespace {

/// Returns half of the number of cores. The other cores stay free for a server on the same machine.
int half_of_the_cores() {
    return static_cast<int>(std::thread::hardware_concurrency() / 2);
}

} // namespace

answer_wait::answer_wait(microseconds longest)
    : longest_{longest}
    , cores_to_spare_{longest > longest.zero() ? half_of_the_cores() : 0} {}

answer_wait::nanoseconds answer_wait::now() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
}

// Gives the core to another thread between two polls. A pause instruction is not enough, because
// the thread that produces the reply might get no core: with a pause instruction, four threads on
// two cores had a 99th percentile of 4 ms.
void answer_wait::breathe() noexcept {
    ::sched_yield();
}

bool answer_wait::wait_readable(int socket, nanoseconds longest) noexcept {
    pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
    // Maximum time of one call of poll(), in ms. The caller's loop calls poll() again after that.
    constexpr std::int64_t hour = 3'600'000;
    return ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(whole, hour))) != 0;
}

bool answer_wait::pays() const noexcept {
    return waiting_.load(std::memory_order_relaxed) <= cores_to_spare_ &&
           usual_.load(std::memory_order_relaxed) < nanoseconds{longest_}.count();
}

/// Updates the usual time until a reply, as a moving average: seven eighths of the old value plus
/// one eighth of the new value.
void answer_wait::learn(nanoseconds taken) noexcept {
    const nanoseconds::rep before = usual_.load(std::memory_order_relaxed);
    usual_.store(before + (taken.count() - before) / 8, std::memory_order_relaxed);
}

} // namespace holdfast::runtime
