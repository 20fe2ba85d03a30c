// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/outside_wait.hpp"
#include "runtime/semaphore.hpp"
#include "zookeeper/requests.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <utility>

namespace holdfast::zookeeper {

/// A calling thread with its request. Of all that wait for an answer one reads what comes, for all;
/// the others sleep until they are woken. Everything inside, but for what is said to be outside.
class visitor final : public runtime::interruptible, public boost::intrusive::list_base_hook<> {
public:
    visitor(runtime::visit& caller, request& asked)
        : caller_{caller}
        , asked_{asked} {
        asked_.visitor = this;
    }
    visitor(const visitor&) = delete;
    ~visitor() { asked_.visitor = nullptr; }

    /// False: it has its answer, or leaves the request to the background.
    bool waits() const {
        return asked_.standing != request::stage::settled && caller_.waits() &&
               !caller_.interrupted();
    }

    /// Its answer is there, or it is to read from now on. It may also have been for nothing.
    /// `by`: the visitor who says so; null: the background.
    void wake(runtime::visit* by) {
        if (reads_)
            reads_->interrupt();
        else if (by == &caller_)
            return; // it is awake
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

    /// Until something has come on that socket. False: not yet.
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
