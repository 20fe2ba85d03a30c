// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Ends the calls that queue at a gate when their time is over: one alarm for all of them.
class patience {
public:
    explicit patience(engine&);

    void watch(acquisition&);
    void forget(acquisition&);
    void stop();
    void let_go_of_clock() noexcept; ///< after it was stopped

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
