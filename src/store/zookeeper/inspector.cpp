// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/inspector.hpp"

#include "runtime/background.hpp"
#include "store/remote/listing.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Maximum number of nodes that a search visits. Each node costs at least one request.
constexpr std::size_t nodes_max = 2000;

void add_matching(found_paths& to, const std::string& pattern, std::string name, std::string path) {
    if (remote::matches(pattern, name))
        to.entries.push_back({std::move(name), std::move(path)});
}

/// Returns the folder before the pattern's first wildcard: "/a/b" for "/a/b/c*d".
std::string folder_of(const std::string& pattern) {
    const std::size_t special = pattern.find_first_of("*?[\\");
    const std::string plain = pattern.substr(0, special);
    const std::size_t slash = plain.rfind('/');
    if (slash == plain.npos || slash == 0)
        return "/";
    return plain.substr(0, slash);
}

asio::awaitable<void> find_below_root(store_session& home, const std::string& pattern,
                                      found_paths& found) {
    std::string root = home.where.root();
    co_await home.at->sync(root);
    const listing names = co_await home.at->list(root);
    if (!names)
        co_return;
    for (const std::string& each : *names) {
        std::string path = below(root, each);
        if (std::optional<std::string> name = home.where.name_at(path))
            add_matching(found, pattern, std::move(*name), std::move(path));
    }
}

asio::awaitable<void> find_in_folders(store_session& home, const std::string& pattern,
                                      found_paths& found) {
    std::deque<std::string> folders{folder_of(pattern)};
    co_await home.at->sync(folders.front());
    for (std::size_t seen = 0; !folders.empty(); ++seen) {
        if (seen == nodes_max) {
            found.complete = false;
            co_return;
        }
        const std::string folder = std::move(folders.front());
        folders.pop_front();
        const listing names = co_await home.at->list(folder);
        bool is_ours = false;
        for (const std::string& each : names.value_or(std::vector<std::string>{})) {
            if (contender_at(each) || each == "leases")
                is_ours = true;
            else if (std::string inner = below(folder, each); inner != "/zookeeper")
                folders.push_back(std::move(inner));
        }
        if (is_ours)
            add_matching(found, pattern, folder, folder);
    }
}

} // namespace

asio::awaitable<found_paths> find_paths(store_session& home, std::string pattern) {
    found_paths found;
    if (home.where.root().empty())
        co_await find_in_folders(home, pattern, found);
    else
        co_await find_below_root(home, pattern, found);
    std::ranges::sort(found.entries, {}, &found_paths::entry::name);
    if (found.entries.size() > nodes_max) {
        found.entries.resize(nodes_max);
        found.complete = false;
    }
    co_return found;
}

namespace {

line line_in(const std::string& path, const std::vector<std::string>& names) {
    const std::vector<contender> all = contenders_in(names);
    const std::vector<contender> holders = holders_among(all);
    line seen;
    for (const contender& each : holders) {
        seen.holders.push_back(below(path, each.node));
        (each.shares ? seen.shared : seen.alone) = true;
    }
    for (const contender& each : std::span{all}.subspan(holders.size()))
        seen.waiters.push_back(below(path, each.node));
    seen.of_pair = std::ranges::any_of(all, &contender::of_pair);
    seen.of_mutex = std::ranges::any_of(holders, &contender::of_mutex);
    seen.semaphore = is_semaphore(names);
    return seen;
}

/// Corrects `seen` if a writer upgrades the only read hold. This writer holds the lock exclusively,
/// although its node is not the first in the queue.
asio::awaitable<void> see_upgrade(store_session& home, line& seen) {
    if (seen.alone || seen.holders.size() != 1 || seen.waiters.empty())
        co_return;
    const std::string first = seen.waiters.front();
    const std::optional<node_data> node = co_await home.at->get(first);
    const std::optional<told_owner> said = node ? owner_in_data(node->data) : std::nullopt;
    if (!said || said->above.empty() || said->above != last_part(seen.holders.front()))
        co_return;
    seen.holders.insert(seen.holders.begin(), first);
    seen.waiters.erase(seen.waiters.begin());
    seen.alone = true;
}

} // namespace

asio::awaitable<line> read_line(store_session& home, std::string path) {
    co_await home.at->sync(path);
    co_return co_await read_line_here(home, std::move(path));
}

asio::awaitable<line> read_line_here(store_session& home, std::string path) {
    const listing names = co_await home.at->list(path);
    if (!names)
        co_return line{};
    line seen = line_in(path, *names);
    co_await see_upgrade(home, seen);
    co_return seen;
}

asio::awaitable<std::vector<node_owner>>
read_owners(store_session& home, std::vector<std::string> nodes, std::size_t most) {
    std::vector<node_owner> all;
    if (nodes.size() > most)
        nodes.resize(most);
    for (const std::string& each : nodes) {
        const std::optional<node_data> node = co_await home.at->get(each);
        if (!node)
            continue;
        node_owner one;
        one.said = owner_in_data(node->data).value_or(told_owner{});
        one.text = one.is_holdfast() ? one.said.owner : owner_in(last_part(each));
        one.token = static_cast<std::uint64_t>(node->stat.czxid);
        const std::optional<contender> its = contender_at(last_part(each));
        one.writes = its && its->of_pair && !its->shares;
        all.push_back(std::move(one));
    }
    co_return all;
}

namespace {

/// State that a watch shares with its loop. A ZooKeeper watch fires only once, so the loop sets it
/// again. The loop may outlive the watch.
struct listening {
    std::shared_ptr<store_session> home;
    std::string path;
    alarm* whom; ///< null: the watch was destroyed
    std::shared_ptr<alarm> change;
    std::unique_ptr<watch> set{};

    asio::awaitable<void> ask() {
        session::watched_listing got = co_await home->at->list_and_watch(path, *change);
        set = std::move(got.children_watched);
    }
};

class listening_watch final : public watch {
public:
    explicit listening_watch(std::shared_ptr<listening> it)
        : it_{std::move(it)} {}
    listening_watch(const listening_watch&) = delete;
    ~listening_watch() override {
        it_->whom = nullptr;
        it_->set.reset();
        it_->change->ring();
    }

private:
    const std::shared_ptr<listening> it_;
};

/// Keeps the watch set. After each change, rings the alarm, sets the watch again, and rings the
/// alarm once more. So no change in between is missed.
asio::awaitable<void> go_on(std::shared_ptr<listening> it) {
    while (it->whom && it->set) {
        co_await it->change->wait_until(time_point::max());
        if (!it->whom || it->home->is_closed())
            break;
        it->whom->ring();
        try {
            co_await it->ask();
        } catch (const boost::system::system_error&) {
            it->set.reset(); // the caller polls instead
        }
        if (it->whom)
            it->whom->ring();
    }
}

} // namespace

asio::awaitable<std::unique_ptr<watch>> watch_line(std::shared_ptr<store_session> home,
                                                   std::string path, alarm& wake) {
    std::shared_ptr<alarm> change = home->context.time.make_alarm();
    const auto it =
        std::make_shared<listening>(listening{home, std::move(path), &wake, std::move(change)});
    auto watching = std::make_unique<listening_watch>(it);
    co_await it->ask();
    if (it->set)
        runtime::run_in_background(home->context, go_on(it));
    else
        wake.ring(); // the path does not exist
    co_return watching;
}

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
    waiter.listens = true; // a waiter watches as long as its node exists
    return waiter;
}

/// If another kind of lock or semaphore than `kind` uses the path, returns this other kind, as text
/// for messages. Otherwise returns null.
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

/// Deletes the nodes of the holders. A delayed request cannot end a newer hold, because each node
/// belongs to one hold only.
asio::awaitable<forced> lock_inspector::end(line seen, std::string only_from) {
    forced outcome;
    const std::size_t most = only_from.empty() ? owners_told_max : seen.holders.size();
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders, most);
    outcome.owners = texts_of(holders);
    const bool is_its = only_from.empty() || std::ranges::count(outcome.owners, only_from) > 0;
    if (outcome.owners.size() > owners_told_max)
        outcome.owners.resize(owners_told_max);
    if (!is_its)
        co_return outcome;
    for (const std::string& each : seen.holders) {
        const session::removal got = co_await home_->at->remove(each);
        outcome.was_locked = outcome.was_locked || got == session::removal::removed;
    }
    co_return outcome;
}

/// Returns a number that is at least as great as each fencing token that was granted below this
/// path so far. This number is the zxid of the last change of the path's list of children. If the
/// path does not exist, returns the zxid for its parent, because the deletion of the path changed
/// the parent's list of children.
asio::awaitable<std::uint64_t> greatest_token_below(store_session& home, std::string path) {
    for (;;) {
        const std::optional<node_data> node = co_await home.at->get(path);
        if (node)
            co_return static_cast<std::uint64_t>(node->stat.pzxid);
        if (path == "/")
            co_return 0;
        path = std::string{parent_of(path)};
    }
}

/// Returns the token of the lock's current hold. A free lock has no node that shows its last token.
/// So for a free lock, returns a number that is greater than the last token.
asio::awaitable<std::uint64_t> lock_inspector::last_token(lock_name name) {
    std::string path = home_->where.of(name);
    const line seen = co_await read_line(*home_, path);
    std::uint64_t last = 0;
    const std::vector<node_owner> holders = co_await read_owners(*home_, seen.holders);
    for (const node_owner& each : holders)
        last = std::max(last, each.token);
    if (last == 0)
        last = co_await greatest_token_below(*home_, std::move(path));
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
        found.type = "semaphore";
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
    const bool is_exclusive = !seen.of_pair || (!holders.empty() && found.owners.front().writes);
    if (is_exclusive) // else a former reader may have had a greater token
        found.last_token = found.token;
    std::vector<node_owner> waiters = co_await read_owners(*home_, std::move(seen.waiters));
    for (node_owner& each : waiters)
        found.waiters.push_back(waiter_from(std::move(each)));
    if (found.owners.empty())
        co_return std::nullopt; // all holders have released the lock since then
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
