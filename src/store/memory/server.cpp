// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.hpp"
#include "store/memory/memory_store.hpp"

#include <holdfast/memory/server.hpp>
#include <holdfast/schemes.hpp>

#include <map>
#include <mutex>
#include <string>

namespace holdfast::memory {

server::server()
    : group_{std::make_shared<server_group>(runtime::machine_time)} {}

server::server(clock& time)
    : group_{std::make_shared<server_group>([&time] { return time.now(); })} {}

server::server(std::shared_ptr<server_group> shared)
    : group_{std::move(shared)} {}

server::~server() = default;

store_factory server::connect(fault_function faults, duration command_timeout) {
    return connect(way{std::move(faults), command_timeout});
}

store_factory server::connect(way how) {
    return
        [servers = group_, how = std::move(how)](store_context context) -> std::unique_ptr<store> {
            auto leads_there = std::make_shared<server_connection>(servers, how, context);
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
void server::restart_empty(std::size_t machine) {
    group_->restart_empty(machine);
}

void server::step_clock(duration by) {
    group_->primary()->step_clock(by);
}
void server::step_clock(std::size_t machine, duration by) {
    group_->at(machine)->step_clock(by);
}
void server::restart_empty() {
    group_->primary()->forget_all();
}
bool server::evict(const lock_name& name) {
    return group_->primary()->forget(name);
}
void server::occupy(const lock_name& name, duration lease, lock_kind kind) {
    group_->primary()->occupy(name, lease, kind);
}
bool server::vacate(const lock_name& name) {
    return group_->primary()->vacate(name);
}

std::shared_ptr<server> server::named(std::string_view name) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<server_group>, std::less<>> groups;
    const std::lock_guard lock_it{mutex};
    std::erase_if(groups, [](const auto& entry) { return entry.second.expired(); });
    const auto found = groups.find(name);
    std::shared_ptr<server_group> its = found == groups.end() ? nullptr : found->second.lock();
    if (!its) {
        its = std::make_shared<server_group>(runtime::machine_time);
        groups.insert_or_assign(std::string{name}, its);
    }
    return std::shared_ptr<server>{new server{std::move(its)}};
}

// Makes URLs of the form memory:NAME work in each program that links holdfast::testing, without a
// call by the program. For this, the CMake component makes the linker keep the symbol
// `holdfast_memory_scheme` (tools/testing.cmake).

namespace {

store_factory store_named(store_url& url) {
    if (url.names_servers() || url.path().starts_with('/'))
        url.refuse("memory: is followed by a name and no slashes, as in memory:test");
    if (url.path().empty())
        url.refuse("memory: needs a name after it, as in memory:test");
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
