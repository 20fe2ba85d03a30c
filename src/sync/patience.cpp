// SPDX-License-Identifier: Apache-2.0
#include "sync/patience.hpp"

#include "sync/engine.hpp"

#include <utility>

namespace holdfast::sync {

patience::patience(engine& e)
    : engine_{e}
    , alarm_{e.time().make_alarm()} {}

void patience::watch(acquisition& call) {
    const time_point end = call.wanted.give_up_at;
    if (end == time_point::max())
        return;
    call.give_up_entry_ = agenda_.emplace(end, &call);
    if (!std::exchange(running_, true))
        engine_.spawn(run(engine_.shared_from_this()));
    else if (end < sleeping_until_)
        alarm_->ring();
}

void patience::forget(acquisition& call) {
    if (!call.give_up_entry_)
        return;
    agenda_.erase(*std::exchange(call.give_up_entry_, std::nullopt));
    if (agenda_.empty() && alarm_)
        alarm_->ring(); // so that the alarm does not sleep without need
}

void patience::stop() {
    while (!agenda_.empty())
        forget(*agenda_.begin()->second);
}

void patience::let_go_of_clock() noexcept {
    if (!running_)
        alarm_.reset();
}

asio::awaitable<void> patience::run(std::shared_ptr<engine> home) {
    const engine::loop ends_before_closing_does{*home};
    patience& self = home->patiences();
    while (!self.agenda_.empty()) {
        self.sleeping_until_ = self.agenda_.begin()->first;
        co_await self.alarm_->wait_until(self.sleeping_until_);
        if (!self.agenda_.empty())
            self.act_on_due();
    }
    self.running_ = false;
}

void patience::act_on_due() {
    const time_point now = engine_.now();
    while (!agenda_.empty() && agenda_.begin()->first <= now)
        // Out_of_patience() removes the call from `agenda_`.
        engine_.out_of_patience(*agenda_.begin()->second);
}

} // namespace holdfast::sync
