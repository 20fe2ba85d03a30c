// SPDX-License-Identifier: Apache-2.0
#include "runtime/monitor.hpp"

#include "runtime/monitor_executor.hpp"

namespace holdfast::runtime {

const monitor*& monitor::presence::here() noexcept {
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
    return runs_here() && presence::here() == this;
}

} // namespace holdfast::runtime
