// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/semaphores.hpp"

#include "net/failure.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/listing.hpp"
#include "store/zookeeper/inspector.hpp"
#include "store/zookeeper/nodes.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t bytes_of_number = 4;
constexpr std::string_view before_request = "\n";

} // namespace

// Format of Curator's SharedCount: a number of four bytes, highest byte first. SharedCount ignores
// all later bytes. A Java program can create a SharedCount for this path and pass it to its
// semaphore. The semaphore then uses the same total.

std::optional<std::int64_t> capacity_in(std::string_view data) {
    const std::string_view behind = data.substr(std::min(data.size(), bytes_of_number));
    const bool is_number =
        data.size() >= bytes_of_number && (behind.empty() || behind.starts_with(before_request));
    if (!is_number)
        return std::nullopt; // a node of Curator: its data are empty or an address
    std::uint32_t number = 0;
    for (const char byte : data.substr(0, bytes_of_number))
        number = (number << 8) | static_cast<unsigned char>(byte);
    if (number > counted_max)
        return std::nullopt;
    return number;
}

std::string capacity_data(std::int64_t permits, const owner_id& request) {
    std::string data;
    for (int shift = 24; shift >= 0; shift -= 8)
        data += static_cast<char>((permits >> shift) & 255);
    data += before_request;
    return data + to_string(request);
}

bool was_set_by(std::string_view data, const owner_id& request) {
    return data.size() > bytes_of_number &&
           data.substr(bytes_of_number + before_request.size()) == to_string(request);
}

asio::awaitable<std::optional<std::int64_t>> read_capacity(store_session& home,
                                                           const semaphore_paths& at) {
    std::string path = at.itself;
    const std::optional<node_data> found = co_await home.at->get(std::move(path));
    co_return found ? capacity_in(found->data) : std::nullopt;
}

asio::awaitable<void> refuse_lock(store_session& home, const semaphore_paths& at) {
    std::string path = at.itself;
    const listing names = co_await home.at->list(std::move(path));
    if (const char* const lock = names ? lock_in_words(*names) : nullptr)
        throw_wrong_type(lock, words_for(counter_kind::permits));
}

namespace {

constexpr int turns_max = 10;

/// Maximum number of times that one request tries to set a total. A try fails if another client
/// sets or erases the total at the same time.
constexpr int sets_max = 10;

/// Maximum number of permits in one request, because one renewal checks at most this number of
/// nodes.
constexpr std::uint32_t permits_most = 500;

/// Mode of both folders of a semaphore. They are persistent, because the ensemble would delete
/// empty container nodes, and then the total number of permits would be lost.
constexpr node_mode mode_above = node_mode::persistent;

queue_node::node_options turn_node_options(const store_session& home, const ask& want,
                                           const semaphore_paths& at) {
    return {at.locks, node_prefix(node_form::curator, lock_kind::plain, want.owner),
            home.data_for(want.owner), true, mode_above};
}

queue_node::node_options permit_node_options(const store_session& home, const owner_id& owner,
                                             const semaphore_paths& at) {
    return {at.leases, permit_prefix(owner), home.data_for(owner), true, mode_above};
}

} // namespace

permit_place::permit_place(std::shared_ptr<store_session> home, ask want, alarm& wake)
    : home_{std::move(home)}
    , want_{std::move(want)}
    , wake_{wake}
    , at_{home_->where, want_.name}
    , turn_{home_, turn_node_options(*home_, want_, at_)}
    , before_{*home_, wake} {
    owner_id each = want_.owner;
    for (std::uint32_t i = 0; i < want_.permits; ++i, ++each.number)
        permit_nodes_.push_back(
            std::make_unique<queue_node>(home_, permit_node_options(*home_, each, at_)));
}

permit_place::~permit_place() {
    if (granted_ && leaving_)
        home_->forget(want_); // leave() failed: delete the nodes in the background
    else if (granted_)
        for (const std::unique_ptr<queue_node>& each : permit_nodes_)
            (void)each->hand_over();
}

bool permit_place::must_leave() const noexcept {
    return granted_ || turn_.may_exist() ||
           std::ranges::any_of(permit_nodes_, [](const auto& each) { return each->may_exist(); });
}

bool permit_place::uncertain() const noexcept {
    return turn_.uncertain() ||
           std::ranges::any_of(permit_nodes_, [](const auto& each) { return each->uncertain(); });
}

asio::awaitable<answer> permit_place::look() {
    const time_point began = home_->context.time.now();
    last_start_ = home_->last_start(began);
    if (std::exchange(granted_, false))
        home_->forget(want_);
    if (want_.permits > permits_most)
        throw net::failure{errc::invalid_argument, "on ZooKeeper, one call can get at most " +
                                                       std::to_string(permits_most) +
                                                       " permits, because each permit is a node"};
    const std::optional<std::int64_t> all = co_await capacity();
    if (!all)
        co_return co_await busy();
    if (want_.permits > *all)
        throw net::failure{errc::invalid_argument, "'" + want_.name.text + "' has " +
                                                       std::to_string(*all) +
                                                       " permits in all, fewer than requested"};
    if (!want_.waits && !must_leave()) {
        const bool hopeless = co_await is_busy(*all);
        if (hopeless)
            co_return co_await busy();
    }
    bool enough = co_await is_my_turn();
    if (enough)
        enough = co_await has_permit_nodes(*all);
    if (!enough)
        co_return co_await busy();
    // The request that proves that the session exists gets a time limit of its own, because the
    // creation of each permit's node had a separate time limit, too.
    co_await home_->prove_session(home_->last_start(home_->context.time.now()));
    if (!std::ranges::all_of(permit_nodes_,
                             [this](const auto& each) { return home_->lives(*each->node()); }))
        co_return answer{}; // the session has ended: create all nodes again
    co_return co_await granted(began);
}

/// Returns the total number of permits. If the total is not set yet, returns nothing. A waiter then
/// watches the semaphore's node, so that the waiter notices when the total is set.
asio::awaitable<std::optional<std::int64_t>> permit_place::capacity() {
    std::optional<std::int64_t> known = co_await read_capacity(*home_, at_);
    require_time();
    if (!known) { // the connected server may not have the latest change
        co_await home_->at->sync(at_.itself);
        require_time();
        known = co_await read_capacity(*home_, at_);
        require_time();
    }
    if (!known)
        co_await refuse_lock(*home_, at_);
    if (known || !want_.waits)
        co_return known;
    require_time();
    std::string path = at_.itself;
    const bool is_there = co_await before_.watch_over(path);
    require_time();
    if (!is_there) {
        co_await home_->make_path(path, mode_above, last_start_);
        require_time();
        co_await before_.watch_over(path);
        require_time();
    }
    co_return co_await read_capacity(*home_, at_);
}

/// Returns whether an attempt that does not wait would fail. Such an attempt need not create nodes.
/// The connected server may not know of a release yet. So before this function reports a failure,
/// it counts the permits again after a sync.
asio::awaitable<bool> permit_place::is_busy(std::int64_t capacity) {
    const bool looks_busy = co_await is_busy_here(capacity);
    if (!looks_busy)
        co_return false;
    require_time();
    co_await home_->at->sync(at_.itself);
    require_time();
    co_return co_await is_busy_here(capacity);
}

asio::awaitable<bool> permit_place::is_busy_here(std::int64_t capacity) {
    const listing waiting = co_await home_->at->list(at_.locks);
    if (waiting && is_taken(*waiting, false))
        co_return true;
    require_time();
    const listing held = co_await home_->at->list(at_.leases);
    co_return held&& static_cast<std::int64_t>(held->size()) + want_.permits > capacity;
}

asio::awaitable<bool> permit_place::is_my_turn() {
    for (int turn = 0; turn < turns_max; ++turn) {
        const std::vector<std::string> names = co_await turn_.among(last_start_);
        const standing mine = standing_of(names, turn_.name());
        if (mine.first)
            co_return true;
        if (!want_.waits)
            co_return false;
        require_time();
        std::string one_before = below(at_.locks, mine.behind);
        const bool is_there = co_await before_.watch_over(std::move(one_before));
        if (is_there)
            co_return false;
    }
    wake_.ring();
    co_return false;
}

/// Creates the nodes for the permits, if enough permits are free. The nodes of waiters count, too,
/// because clients of Curator create their nodes before they wait. No other client adds nodes
/// meanwhile, because this client holds the semaphore's mutex.
asio::awaitable<bool> permit_place::has_permit_nodes(std::int64_t capacity) {
    const auto fit = [capacity](std::size_t taken) {
        return static_cast<std::int64_t>(taken) <= capacity;
    };
    others_leases_.reset();
    require_time();
    session::watched_listing now = co_await home_->at->list_and_watch(at_.leases, wake_);
    others_leases_ = std::move(now.children_watched);
    const std::size_t taken = now.children ? now.children->size() : 0;
    const auto missing = static_cast<std::size_t>(
        std::ranges::count_if(permit_nodes_, [](const auto& each) { return !each->may_exist(); }));
    if (!fit(taken + missing))
        co_return false;
    std::size_t all = 0;
    for (const std::unique_ptr<queue_node>& each : permit_nodes_) {
        // Give each node its own time limit. The creation of many nodes may take longer than one
        // attempt may take.
        const time_point last_start = home_->last_start(home_->context.time.now());
        const std::vector<std::string> names = co_await each->among(last_start);
        all = names.size();
    }
    co_return fit(all);
}

asio::awaitable<answer> permit_place::granted(time_point began) {
    before_.stop();
    others_leases_.reset();
    std::vector<own_node> nodes;
    for (const std::unique_ptr<queue_node>& each : permit_nodes_)
        nodes.push_back(*each->node());
    answer said{
        .granted = true, .token = static_cast<std::uint64_t>(nodes.front().czxid), .tokens = 1};
    home_->keep(want_, std::move(nodes));
    granted_ = true;
    try {
        co_await turn_.remove_until(last_start_);
    } catch (const boost::system::system_error&) {
        // Ignore the error. The permits are granted anyway, and the node is deleted later in the
        // background.
    }
    said.term = home_->term_since(began);
    co_return said;
}

asio::awaitable<answer> permit_place::busy() {
    if (!want_.waits && must_leave()) {
        for (const std::unique_ptr<queue_node>& each : permit_nodes_)
            co_await each->remove_until(last_start_);
        co_await turn_.remove_until(last_start_);
    }
    co_return answer{.term = remote::jittered(home_->context.poll_bound, home_->context.random())};
}

asio::awaitable<void> permit_place::leave() {
    leaving_ = true;
    before_.stop();
    others_leases_.reset();
    for (const std::unique_ptr<queue_node>& each : permit_nodes_)
        co_await each->remove();
    co_await turn_.remove();
    if (std::exchange(granted_, false))
        home_->forget(want_);
}

namespace {

[[noreturn]] void refuse_another_number(const semaphore_paths& at, std::int64_t present) {
    throw net::failure{errc::refused, "'" + at.itself + "' has " + std::to_string(present) +
                                          " permits, and on ZooKeeper this number can be set only "
                                          "once. Delete the semaphore first"};
}

[[noreturn]] void refuse_leases() {
    throw net::failure{errc::refused,
                       "on ZooKeeper a permit has no lease of its own: it is held as long as the "
                       "session of its client"};
}

} // namespace

/// Always throws, because this store has no counters to wait for. A waiter for permits is a
/// `permit_place`.
std::unique_ptr<place> zookeeper_counters::line_up(counter_ask, alarm&) {
    throw net::failure{errc::invalid_argument, "ZooKeeper has no counters of this kind"};
}

asio::awaitable<counter_answer> zookeeper_counters::change(counter_change what) {
    const semaphore_paths at{home_->where, what.name};
    co_await home_->at->sync(at.itself);
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

/// Sets the total number of permits. A repetition of the request finds the request's id in the
/// node, and changes nothing.
asio::awaitable<counter_answer> zookeeper_counters::set(counter_change what, bool only_new) {
    const semaphore_paths at{home_->where, what.name};
    const std::string data = capacity_data(what.amount, what.request);
    counter_answer said{.done = true, .value = what.amount};
    for (int round = 0; round < sets_max; ++round) {
        const bool is_new = co_await make(at, data);
        if (is_new)
            co_return said;
        std::string path = at.itself;
        co_await home_->at->sync(path);
        const std::optional<node_data> node = co_await home_->at->get(path);
        if (!node)
            continue; // another client has erased the semaphore
        if (const std::optional<std::int64_t> present = capacity_in(node->data)) {
            said.value = *present;
            said.done = was_set_by(node->data, what.request);
            const bool same = what.verb == counter_verb::set && *present == what.amount;
            if (!said.done && !only_new && !same)
                refuse_another_number(at, *present);
            co_return said;
        }
        // Set the total in the existing node. The node has no total yet, because Curator or a
        // waiting client has created it. If another client sets the total at the same time, only
        // one of the two succeeds.
        const std::int32_t version = node->stat.version;
        const bool is_set = co_await home_->at->set_if_unchanged(std::move(path), data, version);
        if (is_set)
            co_return said;
    }
    throw net::failure{errc::unreachable,
                       "'" + at.itself + "' was changed again and again when its number was set"};
}

/// Creates the semaphore's nodes. Returns whether the semaphore's node is new. The two folders
/// below this node are persistent. If the ensemble deleted the folders when they are empty, it
/// could then also delete the semaphore's node.
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

/// Deletes the semaphore and all held permits. Waiters notice the deletion and queue again.
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
    // Count at most as many nodes as there are permits, because waiters have nodes, too.
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

asio::awaitable<counter_list> zookeeper_counters::list(counter_kind kind, std::string pattern,
                                                       std::size_t limit) {
    const found_paths found = co_await find_paths(*home_, std::move(pattern));
    counter_list all;
    all.complete = found.complete;
    for (const found_paths::entry& each : found.entries) {
        const semaphore_paths at{home_->where, lock_name{each.name}};
        counter_list::entry one{each.name, {}};
        one.state = co_await state_at(at);
        if (!remote::is_listed(kind, one.state))
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
