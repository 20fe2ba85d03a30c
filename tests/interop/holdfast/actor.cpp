// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/actor.hpp"

#include <utility>

namespace holdfast::interop {

void actor::run(task what) {
    const std::scoped_lock guard{mutex_};
    tasks_.push_back(std::move(what));
    something_.notify_one();
}

void actor::interrupt() {
    std::stop_source now;
    {
        const std::scoped_lock guard{mutex_};
        now = interruption_;
    }
    now.request_stop();
}

void actor::play(const std::stop_token& over) {
    for (;;) {
        std::unique_lock guard{mutex_};
        if (!something_.wait(guard, over, [this] { return !tasks_.empty(); }))
            return;
        const task next = std::move(tasks_.front());
        tasks_.pop_front();
        interruption_ = {};
        const std::stop_token interrupted = interruption_.get_token();
        guard.unlock();
        next(interrupted);
    }
}

} // namespace holdfast::interop
