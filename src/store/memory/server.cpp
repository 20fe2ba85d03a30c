// SPDX-License-Identifier: Apache-2.0
#include "runtime/real_clock.hpp"
#include "store/memory/memory_store.hpp"

#include <holdfast/memory/server.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace holdfast::memory {

server::server()
    : state_{std::make_shared<state>(runtime::machine_time)} {}

server::server(clock& time)
    : state_{std::make_shared<state>([&time] { return time.now(); })} {}

server::server(std::shared_ptr<state> shared)
    : state_{std::move(shared)} {}

server::~server() = default;

store_factory server::connect(fault_function faults, duration command_timeout) {
    return [state = state_, faults = std::move(faults),
            command_timeout](store_context context) -> std::unique_ptr<store> {
        auto way = std::make_shared<link>(state, faults, command_timeout, context);
        return std::make_unique<memory_store>(std::move(context), std::move(way));
    };
}

void server::step_clock(duration by) {
    state_->step_clock(by);
}
void server::set_clock_rate(double rate) {
    state_->set_clock_rate(rate);
}
void server::restart_empty() {
    state_->forget_all();
}
bool server::evict(const lock_name& name) {
    return state_->forget(name);
}
void server::occupy(const lock_name& name, duration lease, lock_kind kind) {
    state_->occupy(name, lease, kind);
}
bool server::vacate(const lock_name& name) {
    return state_->vacate(name);
}

bool server::queue_stranger(const lock_name& name, duration lease) {
    return state_->stranger_takes_or_queues(name, "foreign", state_->stranger_waits(), lease);
}

void server::add_to_counter(const lock_name& name, std::int64_t amount) {
    const counter_verb verb = amount < 0 ? counter_verb::take_back : counter_verb::add;
    state_->stranger_changes({name, {}, counter_kind::semaphore, verb, std::abs(amount)});
}
void server::count_down(const lock_name& name, std::int64_t by) {
    state_->stranger_changes({name, {}, counter_kind::latch, counter_verb::count_down, by});
}
std::optional<std::int64_t> server::counter(const lock_name& name) const {
    const counter_state found = state_->inspect_counter(name, counter_kind::semaphore, {});
    return found.exists ? std::optional{found.value} : std::nullopt;
}

std::optional<holding> server::inspect(const lock_name& name) const {
    return state_->inspect(name);
}
std::size_t server::held_count() const {
    return state_->held_count();
}
std::size_t server::listener_count() const {
    return state_->listener_count();
}

std::shared_ptr<server> server::named(std::string_view name) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<state>, std::less<>> states;
    const std::lock_guard lock_it{mutex};
    std::erase_if(states, [](const auto& entry) { return entry.second.expired(); });
    const auto found = states.find(name);
    std::shared_ptr<state> its = found == states.end() ? nullptr : found->second.lock();
    if (!its) {
        its = std::make_shared<state>(runtime::machine_time);
        states.insert_or_assign(std::string{name}, its);
    }
    return std::shared_ptr<server>{new server{std::move(its)}};
}

} // namespace holdfast::memory
