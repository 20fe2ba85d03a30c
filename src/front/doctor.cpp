// SPDX-License-Identifier: Apache-2.0
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/wish.hpp"
#include "refusal.hpp"

#include <holdfast/client.hpp>

namespace holdfast {
namespace {

asio::awaitable<diagnosis> examine(std::shared_ptr<sync::engine> home, lock_name trial) {
    const auto lock = front::make_subject(home, trial, {});
    ask want{lock->name, home->next_owner(), lock->kind};
    want.replicas = lock->replicas;
    want.lease_time = lock->lease;
    want.give_up_at = home->now(); // only one attempt
    diagnosis found;
    found.findings = co_await home->examine(std::move(want));
    co_return found;
}

asio::awaitable<diagnosis> set_up_store(std::shared_ptr<sync::engine> home) {
    diagnosis made;
    made.findings = co_await home->set_up_store();
    if (made.findings.empty())
        refuse("this store needs no set-up: it makes what locks need by itself");
    co_return made;
}

} // namespace

diagnosis client::doctor(lock_name trial) {
    return front::wait_for(engine_, examine(engine_, std::move(trial)));
}

void client::start_doctor(std::shared_ptr<sync::engine> engine, lock_name trial,
                          asio::any_completion_handler<void(error_code, diagnosis)> handler) {
    front::start(engine, examine(engine, std::move(trial)), std::move(handler));
}

diagnosis client::set_up() {
    return front::wait_for(engine_, set_up_store(engine_));
}

void client::start_set_up(std::shared_ptr<sync::engine> engine,
                          asio::any_completion_handler<void(error_code, diagnosis)> handler) {
    front::start(engine, set_up_store(engine), std::move(handler));
}

} // namespace holdfast
