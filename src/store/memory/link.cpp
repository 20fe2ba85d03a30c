// SPDX-License-Identifier: Apache-2.0
#include "store/memory/link.hpp"

#include "runtime/background.hpp"

#include <holdfast/error.hpp>

#include <utility>

namespace holdfast::memory {

link::link(std::shared_ptr<server::state> server, fault_function faults, duration command_timeout,
           const store_context& context)
    : server_{std::move(server)}
    , faults_{std::move(faults)}
    , command_timeout_{command_timeout}
    , home_{context} {
    server_clock_->learn(now(), now(), server_->now());
}

void link::close() noexcept {
    closed_ = true;
    for (alarm* const sleeper : sleepers_)
        sleeper->ring();
}

void link::at(time_point when, std::function<void()> act) {
    if (when <= now())
        return act();
    runtime::run_in_background(home_, act_later(shared_from_this(), when, std::move(act)));
}

asio::awaitable<void> link::act_later(std::shared_ptr<link> self, time_point when,
                                      std::function<void()> act) {
    if (self->closed_) // before this began: the clock may be gone
        co_return;
    const std::unique_ptr<alarm> nap = self->home_.time.make_alarm();
    co_await self->rest(*nap, when);
    if (!self->closed_)
        act();
}

asio::awaitable<void> link::rest(alarm& bed, time_point until) {
    struct registered {
        registered(std::list<alarm*>& a, alarm& one)
            : all{a}
            , entry{all.insert(all.end(), &one)} {}
        registered(const registered&) = delete;
        ~registered() { all.erase(entry); }
        std::list<alarm*>& all;
        std::list<alarm*>::iterator entry;
    };
    const registered rung_by_close{sleepers_, bed};
    co_await bed.wait_until(until);
}

void fail_closed() {
    throw boost::system::system_error{make_error_code(errc::closed)};
}
void fail_unreachable() {
    throw boost::system::system_error{make_error_code(errc::unreachable)};
}
void fail_outcome_unknown() {
    throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
}

void fail_overloaded() {
    throw boost::system::system_error{make_error_code(errc::overloaded)};
}
void fail_denied() {
    throw boost::system::system_error{make_error_code(errc::refused)};
}
void fail_wrong_type(const char* what_it_is) {
    throw boost::system::system_error{make_error_code(store_errc::wrong_type), what_it_is};
}

} // namespace holdfast::memory
