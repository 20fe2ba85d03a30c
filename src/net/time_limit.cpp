// SPDX-License-Identifier: Apache-2.0
#include "net/time_limit.hpp"

#include "runtime/background.hpp"

#include <utility>

namespace holdfast::net {

struct time_limit::state {
    clock& time;
    std::unique_ptr<alarm> sleep = time.make_alarm();
    std::function<void()> late;

    static asio::awaitable<void> run(std::shared_ptr<state> self, time_point when) {
        // If `late` is empty, the scope has ended, and the clock may be destroyed already.
        while (self->late && self->time.now() < when)
            co_await self->sleep->wait_until(when);
        if (self->late)
            std::exchange(self->late, {})();
    }
};

time_limit::time_limit(const store_context& home, time_point when, std::function<void()> late)
    : state_{std::make_shared<state>(state{.time = home.time, .late = std::move(late)})} {
    runtime::run_in_background(home, state::run(state_, when));
}

time_limit::~time_limit() {
    state_->late = {};
    state_->sleep->ring();
}

} // namespace holdfast::net
