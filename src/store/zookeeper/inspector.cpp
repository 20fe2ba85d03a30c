// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/inspector.hpp"

#include "store/zookeeper/line_watch.hpp"
#include "store/zookeeper/name_finder.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {
namespace {

std::vector<std::string> texts_of(const std::vector<node_owner>& all) {
    std::vector<std::string> texts;
    texts.reserve(all.size());
    for (const node_owner& each : all)
        texts.push_back(each.text);
    return texts;
}

lock_owner owner_from(node_owner&& one) {
    lock_owner owner;
    owner.is_holdfast = one.is_holdfast();
    owner.text = std::move(one.text);
    owner.client = std::move(one.said.client);
    owner.writes = one.writes;
    return owner;
}

lock_waiter waiter_from(node_owner&& one) {
    lock_waiter waiter;
    waiter.is_holdfast = one.is_holdfast();
    waiter.text = std::move(one.text);
    waiter.client = std::move(one.said.client);
    waiter.listens = true; // true as long as the waiter's node exists
    return waiter;
}

/// Returns the other kind that uses the path, in words. Null: no other kind uses the path.
const char* instead_of(lock_kind kind, const line& seen) {
    if (seen.semaphore)
        return words_for(lock_kind::permit);
    if (seen.holders.empty())
        return nullptr;
    const bool is_pair = kind == lock_kind::read || kind == lock_kind::write;
    if (seen.of_pair)
        return is_pair ? nullptr : words_for(lock_kind::read);
    const bool fits = is_pair ? !seen.of_mutex : kind != lock_kind::token;
    return fits ? nullptr : words_for(lock_kind::plain);
}

} // namespace

asio::awaitable<std::optional<holding>> lock_inspector::inspect(lock_name name) {
    line seen = co_await read_line(*home_, home_->where.of(name));
    holding found;
    if (seen.semaphore) {
        found.kind = key_kind::other;
        found.other = words_for(lock_kind::permit);
        co_return found;
    }
    if (seen.holders.empty())
        co_return std::nullopt;
    found.kind = seen.of_pair ? key_kind::read_write_lock : key_kind::lock;
    found.kind_is_certain = seen.of_pair || seen.of_mutex;
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders);
    found.owners = texts_of(holders);
    found.alone = seen.alone;
    found.shared = seen.shared;
    co_return found;
}

asio::awaitable<forced> lock_inspector::force_release(lock_name name, std::string only_from) {
    line seen = co_await read_line(*home_, home_->where.of(name));
    if (seen.semaphore)
        throw_wrong_type(words_for(lock_kind::permit), "a lock");
    co_return co_await end(std::move(seen), std::move(only_from));
}

asio::awaitable<forced> lock_inspector::force_kind(lock_name name, lock_kind kind) {
    line seen = co_await read_line(*home_, home_->where.of(name));
    if (const char* const other = instead_of(kind, seen))
        throw_wrong_type(other, words_for(kind));
    const bool fits = kind == lock_kind::read    ? seen.shared && !seen.alone
                      : kind == lock_kind::write ? seen.alone
                                                 : true;
    if (fits)
        co_return co_await end(std::move(seen), {});
    forced nothing;
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders);
    nothing.owners = texts_of(holders);
    co_return nothing;
}

/// Deletes the holders' nodes. If the request arrives late, it ends no other hold, because a node
/// always belongs to the same owner.
asio::awaitable<forced> lock_inspector::end(line seen, std::string only_from) {
    forced outcome;
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders);
    outcome.owners = texts_of(holders);
    if (!only_from.empty() && std::ranges::find(outcome.owners, only_from) == outcome.owners.end())
        co_return outcome;
    for (const std::string& each : seen.holders) {
        const session::removal got = co_await home_->at->remove(each);
        outcome.was_locked = outcome.was_locked || got == session::removal::removed;
    }
    co_return outcome;
}

/// Returns the token of the current hold, or 0. A free lock has no node, so its last token is not
/// stored.
asio::awaitable<std::uint64_t> lock_inspector::last_token(lock_name name) {
    const line seen = co_await read_line(*home_, home_->where.of(name));
    std::uint64_t last = 0;
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders);
    for (const node_owner& each : holders)
        last = std::max(last, each.token);
    co_return last;
}

asio::awaitable<std::optional<lock_state>> lock_inspector::describe(lock_name name) {
    std::string path = home_->where.of(name);
    co_await home_->at->sync(path);
    co_return co_await describe_at(std::move(path), std::move(name.text));
}

asio::awaitable<std::optional<lock_state>> lock_inspector::describe_at(std::string path,
                                                                       std::string name) {
    line seen = co_await read_line_here(*home_, std::move(path));
    lock_state found;
    found.name = std::move(name);
    found.type = "nodes";
    if (seen.semaphore) {
        found.kind = key_kind::other;
        co_return found;
    }
    if (seen.holders.empty())
        co_return std::nullopt;
    found.kind = seen.of_pair ? key_kind::read_write_lock : key_kind::lock;
    found.waiting = seen.waiters.size();
    found.listeners = seen.waiters.size();
    std::vector<node_owner> holders = co_await read_owners(*home_, std::move(seen.holders));
    for (node_owner& each : holders) {
        found.token = std::max(found.token, each.token);
        found.owners.push_back(owner_from(std::move(each)));
    }
    std::vector<node_owner> waiters = co_await read_owners(*home_, std::move(seen.waiters));
    for (node_owner& each : waiters)
        found.waiters.push_back(waiter_from(std::move(each)));
    if (found.owners.empty())
        co_return std::nullopt; // all holders released the lock in the meantime
    co_return found;
}

asio::awaitable<lock_list> lock_inspector::list(std::string pattern, std::size_t limit) {
    lock_list all;
    found_paths found = co_await find_paths(*home_, std::move(pattern));
    all.complete = found.complete;
    for (found_paths::entry& each : found.entries) {
        std::optional<lock_state> one =
            co_await describe_at(std::move(each.path), std::move(each.name));
        if (!one || one->kind == key_kind::other)
            continue;
        if (all.locks.size() == limit) {
            all.complete = false;
            break;
        }
        all.locks.push_back(std::move(*one));
    }
    co_return all;
}

asio::awaitable<std::unique_ptr<watch>> lock_inspector::listen(lock_name name, alarm& wake) {
    return watch_line(home_, home_->where.of(name), wake);
}

} // namespace holdfast::zookeeper
