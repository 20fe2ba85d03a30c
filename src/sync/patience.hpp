// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Timeouts of the calls that queue at a gate. One alarm serves all of them.
class patience {
public:
    explicit patience(engine&);

    void watch(acquisition&);
    void forget(acquisition&);
    void stop();
    void let_go_of_clock() noexcept; ///< call it after stop()

private:
    static asio::awaitable<void> run(std::shared_ptr<engine>);
    void act_on_due();

    engine& engine_;
    acquisition::agenda agenda_;
    std::unique_ptr<alarm> alarm_;
    time_point sleeping_until_ = time_point::max();
    bool running_ = false;
};

} // namespace holdfast::sync
