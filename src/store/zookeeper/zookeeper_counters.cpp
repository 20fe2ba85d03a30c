// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/zookeeper_counters.hpp"

#include "net/failure.hpp"
#include "store/zookeeper/formats.hpp"
#include "store/zookeeper/name_finder.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

[[noreturn]] void refuse_another_number(const semaphore_paths& at, std::int64_t present) {
    throw net::failure{errc::refused, "'" + at.itself + "' has " + std::to_string(present) +
                                          " permits, and every client of it knows that number: on "
                                          "ZooKeeper it is set once. Erase it first"};
}

[[noreturn]] void refuse_leases() {
    throw net::failure{errc::refused,
                       "on ZooKeeper a permit has no lease of its own: it is held as long as the "
                       "session of its client"};
}

} // namespace

/// Throws, because this store has no counters to wait for. Waiters for permits use a
/// `permit_place`.
std::unique_ptr<place> zookeeper_counters::line_up(counter_ask, alarm&) {
    throw net::failure{errc::invalid_argument, "ZooKeeper keeps no such counters"};
}

asio::awaitable<counter_answer> zookeeper_counters::change(counter_change what) {
    const semaphore_paths at{home_->where, what.name};
    co_await refuse_lock(*home_, at);
    counter_answer said;
    switch (what.verb) {
    case counter_verb::set_new:
    case counter_verb::set:
    case counter_verb::add: {
        const bool only_new = what.verb == counter_verb::set_new;
        co_return co_await set(std::move(what), only_new);
    }
    case counter_verb::give_back:
        said.done = co_await give_back(at, std::move(what.permit));
        co_return said;
    case counter_verb::erase:
        said.done = co_await erase(at);
        co_return said;
    case counter_verb::set_lease:
        refuse_leases();
    default:
        break;
    }
    const std::optional<std::int64_t> present = co_await read_capacity(*home_, at);
    refuse_another_number(at, present.value_or(0));
}

/// Sets the total number of permits. A repeated call does no harm: the request finds its own id in
/// the node.
asio::awaitable<counter_answer> zookeeper_counters::set(counter_change what, bool only_new) {
    const semaphore_paths at{home_->where, what.name};
    const std::string data = capacity_data(what.amount, what.request);
    counter_answer said{.done = true, .value = what.amount};
    const bool is_new = co_await make(at, data);
    if (is_new)
        co_return said;
    std::string path = at.itself;
    co_await home_->at->sync(path);
    const std::optional<node_data> node = co_await home_->at->get(path);
    const std::optional<std::int64_t> present = node ? capacity_in(node->data) : std::nullopt;
    if (!present) { // Curator made it, or a client that waits for the total
        co_await home_->at->set(std::move(path), data);
        co_return said;
    }
    said.value = *present;
    said.done = was_set_by(node->data, what.request);
    const bool same = what.verb == counter_verb::set && *present == what.amount;
    if (!said.done && !only_new && !same)
        refuse_another_number(at, *present);
    co_return said;
}

/// Makes the semaphore's nodes. Returns whether the semaphore's node is new. The folders below it
/// are persistent: if they were deleted when empty, the semaphore's node could be deleted too.
asio::awaitable<bool> zookeeper_counters::make(const semaphore_paths& at, std::string data) {
    new_node wanted{at.itself, data, node_mode::persistent};
    session::creation got = co_await home_->at->create(wanted);
    if (got.why == session::refusal::no_parent) {
        std::string above{parent_of(at.itself)};
        co_await home_->make_path(std::move(above));
        got = co_await home_->at->create(wanted);
    }
    for (const std::string* each : {&at.leases, &at.locks}) {
        std::string path = *each;
        co_await home_->make_path(std::move(path), node_mode::persistent);
    }
    co_return got.why == session::refusal::none;
}

/// Gives a permit back, even if another client holds it.
asio::awaitable<bool> zookeeper_counters::give_back(const semaphore_paths& at, std::string permit) {
    std::string path = at.leases;
    co_await home_->at->sync(path);
    const listing held = co_await home_->at->list(path);
    if (!held)
        co_return false;
    const auto found =
        std::ranges::find_if(*held, [&](const auto& each) { return permit_in(each) == permit; });
    if (found == held->end())
        co_return false;
    std::string node = below(path, *found);
    co_return co_await home_->at->remove(std::move(node)) == session::removal::removed;
}

/// Deletes the semaphore and all held permits. Waiters start again.
asio::awaitable<bool> zookeeper_counters::erase(const semaphore_paths& at) {
    const std::optional<std::int64_t> present = co_await read_capacity(*home_, at);
    if (!present)
        co_return false;
    std::string itself = at.itself;
    co_await home_->at->set(itself, {});
    for (const std::string* folder : {&at.leases, &at.locks}) {
        std::string path = *folder;
        listing names = co_await home_->at->list(path);
        if (!names)
            names.emplace();
        for (const std::string& each : *names) {
            std::string node = below(path, each);
            co_await home_->at->remove(std::move(node));
        }
        co_await home_->at->remove(path);
    }
    co_await home_->at->remove(itself);
    co_return true;
}

asio::awaitable<counter_state> zookeeper_counters::state_at(const semaphore_paths& at) {
    const std::optional<std::int64_t> all = co_await read_capacity(*home_, at);
    std::string path = at.leases;
    const listing leases = co_await home_->at->list(path);
    const auto nodes = static_cast<std::int64_t>(leases ? leases->size() : 0);
    counter_state found;
    found.exists = all.has_value();
    // Waiters have nodes too, so there may be more nodes than permits.
    found.taken = all ? std::min(nodes, *all) : nodes;
    found.value = all ? *all - found.taken : 0;
    co_return found;
}

asio::awaitable<counter_state> zookeeper_counters::inspect(lock_name name, counter_kind) {
    const semaphore_paths at{home_->where, name};
    std::string path = at.itself;
    co_await home_->at->sync(std::move(path));
    co_await refuse_lock(*home_, at);
    co_return co_await state_at(at);
}

asio::awaitable<counter_list> zookeeper_counters::list(counter_kind, std::string pattern,
                                                       std::size_t limit) {
    const found_paths found = co_await find_paths(*home_, std::move(pattern));
    counter_list all;
    all.complete = found.complete;
    for (const found_paths::entry& each : found.entries) {
        const semaphore_paths at{home_->where, lock_name{each.name}};
        counter_list::entry one{each.name, {}};
        one.state = co_await state_at(at);
        if (!one.state.exists)
            continue;
        if (all.counters.size() == limit) {
            all.complete = false;
            break;
        }
        all.counters.push_back(std::move(one));
    }
    co_return all;
}

} // namespace holdfast::zookeeper
