// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/outside_wait.hpp"
#include "runtime/semaphore.hpp"
#include "zookeeper/requests.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <utility>

namespace holdfast::zookeeper {

/// A calling thread that runs its own request. One visitor reads the socket for all visitors. The
/// other visitors sleep until another thread wakes them. Call every function inside the monitor,
/// unless its comment says "outside".
class visitor final : public runtime::interruptible, public boost::intrusive::list_base_hook<> {
public:
    visitor(runtime::visit& caller, request& asked)
        : caller_{caller}
        , asked_{asked} {
        asked_.visitor = this;
    }
    visitor(const visitor&) = delete;
    ~visitor() { asked_.visitor = nullptr; }

    /// Returns whether the request is neither settled nor left to the background thread.
    bool waits() const {
        return asked_.standing != request::stage::settled && caller_.waits() &&
               !caller_.interrupted();
    }

    /// Wakes the thread, because its request is settled or because it must read the socket now. The
    /// thread may also wake without a reason. `by` is the visitor that wakes this thread; null
    /// means the background thread.
    void wake(runtime::visit* by) {
        if (reads_)
            reads_->interrupt();
        else if (by == &caller_)
            return; // the thread is awake
        else if (by)
            by->wake_behind(*woken_, woken_);
        else
            woken_->post();
    }
    void interrupt() noexcept override {
        if (reads_)
            reads_->interrupt();
        else
            woken_->post();
    }

    void rest() {
        caller_.outside(*this, [this]() noexcept { woken_->wait(); });
    }

    template <typename Work>
    void outside(Work work) {
        caller_.outside(*this, std::move(work));
    }

    /// Waits outside the monitor until the socket is readable. Returns false if no data came yet.
    bool wait_for(int socket, runtime::outside_wait& how) {
        bool came = false;
        reads_ = &how;
        caller_.outside(*this, [&how, &came, socket]() noexcept {
            came = how.until_readable(socket, duration::max());
        });
        reads_ = nullptr;
        return came;
    }

private:
    runtime::visit& caller_;
    request& asked_;
    const std::shared_ptr<runtime::semaphore> woken_ = std::make_shared<runtime::semaphore>();
    runtime::outside_wait* reads_ = nullptr;
};

} // namespace holdfast::zookeeper
