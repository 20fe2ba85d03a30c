// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.hpp"
#include "store/memory/memory_store.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/schemes.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace holdfast::memory {

server::server()
    : group_{std::make_shared<group>(runtime::machine_time)} {}

server::server(clock& time)
    : group_{std::make_shared<group>([&time] { return time.now(); })} {}

server::server(std::shared_ptr<group> shared)
    : group_{std::move(shared)} {}

server::~server() = default;

std::shared_ptr<server::state> server::inside() const {
    return group_->primary();
}

store_factory server::connect(fault_function faults, duration command_timeout) {
    return connect(way{std::move(faults), command_timeout});
}

store_factory server::connect(way how) {
    return
        [servers = group_, how = std::move(how)](store_context context) -> std::unique_ptr<store> {
            auto leads_there = std::make_shared<link>(servers, how, context);
            leads_there->begin();
            return std::make_unique<memory_store>(std::move(context), std::move(leads_there));
        };
}

void server::keep_by_session(duration session_time) {
    group_->keep_by_session(session_time);
}

void server::replicate(std::size_t count, duration lag) {
    group_->replicate(count, lag);
}
void server::set_lag(std::size_t replica, duration lag) {
    group_->set_lag(replica, lag);
}
void server::cut_replica(std::size_t replica) {
    group_->cut_replica(replica);
}
void server::stop(std::size_t machine) {
    group_->at(machine)->stop();
}
void server::resume(std::size_t machine) {
    group_->at(machine)->resume();
}
void server::promote(std::size_t machine) {
    group_->promote(machine);
}
void server::demote(std::size_t machine) {
    group_->demote(machine);
}
void server::announce(std::size_t machine) {
    group_->announce(machine);
}
void server::restart_empty(std::size_t machine) {
    group_->restart_empty(machine);
}
std::size_t server::primary() const {
    return group_->primary_number();
}

void server::step_clock(duration by) {
    inside()->step_clock(by);
}
void server::step_clock(std::size_t machine, duration by) {
    group_->at(machine)->step_clock(by);
}
void server::set_clock_rate(double rate) {
    inside()->set_clock_rate(rate);
}
void server::set_clock_rate(std::size_t machine, double rate) {
    group_->at(machine)->set_clock_rate(rate);
}
void server::restart_empty() {
    inside()->forget_all();
}
bool server::evict(const lock_name& name) {
    return inside()->forget(name);
}
void server::occupy(const lock_name& name, duration lease, lock_kind kind) {
    inside()->occupy(name, lease, kind);
}
bool server::cut_readers(const lock_name& name, duration lease) {
    return inside()->cut_readers(name, lease);
}
bool server::vacate(const lock_name& name) {
    return inside()->vacate(name);
}

bool server::queue_stranger(const lock_name& name, duration lease) {
    return inside()->stranger_takes_or_queues(name, "foreign", inside()->stranger_waits(), lease);
}

void server::add_to_counter(const lock_name& name, std::int64_t amount) {
    const counter_verb verb = amount < 0 ? counter_verb::take_back : counter_verb::add;
    inside()->stranger_changes({name, {}, counter_kind::semaphore, verb, std::abs(amount)});
}
void server::count_down(const lock_name& name, std::int64_t by) {
    inside()->stranger_changes({name, {}, counter_kind::latch, counter_verb::count_down, by});
}
std::optional<std::int64_t> server::counter(const lock_name& name) const {
    const counter_state found = inside()->inspect_counter(name, counter_kind::semaphore, {});
    return found.exists ? std::optional{found.value} : std::nullopt;
}

std::optional<holding> server::inspect(const lock_name& name) const {
    return inside()->inspect(name);
}
std::size_t server::held_count() const {
    return inside()->held_count();
}
std::size_t server::listener_count() const {
    return inside()->listener_count();
}

std::shared_ptr<server> server::named(std::string_view name) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<group>, std::less<>> groups;
    const std::lock_guard lock_it{mutex};
    std::erase_if(groups, [](const auto& entry) { return entry.second.expired(); });
    const auto found = groups.find(name);
    std::shared_ptr<group> its = found == groups.end() ? nullptr : found->second.lock();
    if (!its) {
        its = std::make_shared<group>(runtime::machine_time);
        groups.insert_or_assign(std::string{name}, its);
    }
    return std::shared_ptr<server>{new server{std::move(its)}};
}

// Support for the URL memory:NAME. A program that links holdfast::testing can use such URLs and
// need not call any function first, because the component makes the linker keep
// `holdfast_memory_scheme` (tools/testing.cmake).

namespace {

store_factory store_named(store_url& url) {
    if (url.names_servers() || url.path().starts_with('/'))
        url.refuse("memory: is followed by a name and no slashes, as in memory:test");
    if (url.path().empty())
        url.refuse("memory: needs a name behind it, as in memory:test");
    url.refuse_unknown();
    return server::named(url.path())->connect();
}

bool add_scheme() {
    add_store_scheme("memory", store_named);
    return true;
}

} // namespace
} // namespace holdfast::memory

extern "C" {
HOLDFAST_EXPORT extern const bool holdfast_memory_scheme;
const bool holdfast_memory_scheme = holdfast::memory::add_scheme();
}
