// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/locks.hpp"

#include "net/failure.hpp"
#include "store/remote/attempts.hpp"
#include "store/zookeeper/semaphores.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Greatest node number that is used. The server numbers the nodes below a path with 31 bits. After
/// an overflow, the order of the nodes would be wrong, and some servers repeat the last number.
constexpr std::int64_t number_last = (std::int64_t{1} << 31) - (std::int64_t{1} << 20);

/// Maximum number of attempts in one call. An attempt fails if the session ends, the node is
/// deleted, or the ensemble deletes the empty path above the node.
constexpr int rounds_max = 5;

bool was_not_made(const error_code& why) {
    return why == errc::unreachable || why == errc::refused || why == errc::overloaded ||
           why == errc::closed;
}

bool is_worn_out(const own_node& node) {
    const std::optional<std::int64_t> number = number_in(node.path);
    return number && (*number < 0 || *number >= number_last);
}

[[noreturn]] void refuse_worn_out(const std::string& parent) {
    throw net::failure{store_errc::worn_out,
                       "the sequence numbers below '" + parent +
                           "' are used up: the path has had " + std::to_string(number_last) +
                           " nodes or more. The path is created again when no client uses it"};
}

/// When a node with this number or a greater one is deleted, the client also deletes the node's
/// parent if the parent is empty. The numbers then start at 0 again. The ensemble also deletes
/// empty parents, but it looks for them only once a minute.
constexpr std::int64_t number_of_the_old = std::int64_t{1} << 30;

/// Starts the numbers of the nodes at 0 again if they have become large. Call this function after
/// the deletion of the node `path`. For this, it deletes the parent of the node. If the parent is a
/// persistent folder of a semaphore, it creates the folder again at once, because a semaphore is
/// recognized by its folders.
asio::awaitable<void> renew_numbers(store_session& home, std::string path, node_mode parents_mode) {
    const std::optional<std::int64_t> number = number_in(path);
    if (!number || *number < number_of_the_old)
        co_return;
    try {
        std::string above{parent_of(path)};
        const session::removal got = co_await home.at->remove(above);
        if (got == session::removal::removed && parents_mode == node_mode::persistent)
            co_await home.make_path(std::move(above), parents_mode);
    } catch (const boost::system::system_error&) {
        // Ignore the error: the next deletion tries again.
    }
}

void refuse_too_long(const std::string& parent, std::size_t length) {
    if (length > line_longest)
        throw net::failure{store_errc::out_of_memory,
                           std::to_string(length) + " nodes are below '" + parent +
                               "', more than " + std::to_string(line_longest)};
}

} // namespace

queue_node::queue_node(std::shared_ptr<store_session> home, node_options want)
    : home_{std::move(home)}
    , want_{std::move(want)} {}

queue_node::~queue_node() {
    if (mine_)
        home_->left_behind.add(std::move(*mine_));
    if (unseen_)
        home_->left_behind.add_unseen(want_.parent, want_.prefix);
}

own_node queue_node::hand_over() {
    own_node node = std::move(*mine_);
    mine_.reset();
    return node;
}

asio::awaitable<std::vector<std::string>> queue_node::among(time_point last_start) {
    last_start_ = last_start;
    for (int round = 0; round < rounds_max; ++round) {
        if (unseen_)
            co_await find();
        if (mine_ && !home_->lives(*mine_))
            mine_.reset(); // the node was deleted with its session
        home_->require_time(last_start_);
        std::optional<std::vector<std::string>> names;
        if (mine_)
            names = co_await list_beside();
        else
            names = co_await make();
        if (names && mine_ && home_->lives(*mine_) && is_among(*names)) {
            if (is_worn_out(*mine_)) {
                co_await make_parent_anew();
                continue;
            }
            refuse_too_long(want_.parent, names->size());
            co_return std::move(*names);
        }
        if (names || !mine_) // the node or its session is gone: create the node again
            mine_.reset();
    }
    throw net::failure{errc::unreachable,
                       "the node below '" + want_.parent +
                           "' was deleted repeatedly before the client could find it"};
}

asio::awaitable<std::optional<std::vector<std::string>>> queue_node::list_beside() {
    listing names = co_await home_->at->list(want_.parent);
    if (!names)
        names.emplace(); // the whole path was deleted
    co_return names;
}

/// Deletes the parent if its numbers are used up, and it is empty and has no data. A new parent
/// numbers its nodes from 0 again.
asio::awaitable<void> queue_node::make_parent_anew() {
    const time_point last_start = last_start_;
    co_await remove();
    last_start_ = last_start;
    home_->require_time(last_start_);
    std::string path = want_.parent;
    const std::optional<node_data> parent = co_await home_->at->get(path);
    if (parent && !parent->data.empty())
        refuse_worn_out(want_.parent);
    home_->require_time(last_start_);
    const session::removal got = co_await home_->at->remove(std::move(path));
    if (got == session::removal::has_children)
        refuse_worn_out(want_.parent);
}

/// Creates the node. The result is empty in two cases: the path above the node was missing and was
/// created now, or the node existed already. The caller must then call again.
asio::awaitable<std::optional<std::vector<std::string>>> queue_node::make() {
    const node_mode mode = want_.numbered ? node_mode::ephemeral_sequential : node_mode::ephemeral;
    new_node wanted{below(want_.parent, want_.prefix), want_.data, mode};
    unseen_ = true;
    session::created_and_listed got;
    try {
        got = co_await home_->at->create_and_list(std::move(wanted), want_.parent);
    } catch (const boost::system::system_error& why) {
        unseen_ = !was_not_made(why.code());
        throw;
    }
    unseen_ = false;
    switch (got.made.why) {
    case session::refusal::no_parent:
        co_await home_->make_path(want_.parent, want_.parents_mode, last_start_);
        co_return std::nullopt;
    case session::refusal::exists: // an earlier request or session created the node
        unseen_ = true;
        co_await find();
        co_return std::nullopt;
    case session::refusal::none:
        break;
    }
    const node_stat& made = got.made.node.stat;
    mine_.emplace(std::move(got.made.node.path), made.ephemeral_owner, made.czxid);
    co_return std::move(got.children);
}

/// Searches for the node after the answer to its creation was lost. If the node does not exist now,
/// it will not be created later, because the server has already finished the earlier request.
asio::awaitable<void> queue_node::find() {
    std::vector<own_node> found =
        co_await find_unseen(*home_, want_.parent, want_.prefix, last_start_);
    unseen_ = false;
    mine_.reset();
    for (own_node& each : found)
        if (!mine_)
            mine_ = std::move(each);
        else
            home_->left_behind.add(std::move(each));
}

asio::awaitable<void> queue_node::remove() {
    last_start_ = time_point::max(); // a removal has no time limit
    if (unseen_)
        co_await find();
    if (mine_ && home_->lives(*mine_)) {
        const std::string path = mine_->path;
        co_await home_->at->remove(path);
        mine_.reset();
        // Reset the numbers of a semaphore's mutex here, because no release deletes the nodes of
        // this mutex.
        if (want_.parents_mode == node_mode::persistent)
            co_await renew_numbers(*home_, path, want_.parents_mode);
    }
    mine_.reset();
}

asio::awaitable<void> queue_node::remove_until(time_point last_start) {
    if (home_->context.time.now() < last_start)
        co_await remove();
}

bool queue_node::is_among(const std::vector<std::string>& names) const {
    return std::ranges::find(names, name()) != names.end();
}

// A waiter first creates its node and lists the queue. After that, it watches the node in front of
// its own, sleeps, and lists the queue again, until it gets the lock.

namespace {

/// Maximum number of times that one attempt lists the queue. An attempt lists the queue again if
/// the node in front of its own was deleted before the watch was set.
constexpr int steps_max = 10;

/// Returns the number at the end of a node's name, as text.
std::string_view number_text(std::string_view node) {
    constexpr std::size_t digits = 10;
    return node.substr(node.size() - std::min(digits, node.size()));
}

const own_node* node_under(const store_session& home, const ask& want) {
    if (want.under == 0)
        return nullptr;
    owner_id owner = want.owner;
    owner.number = want.under;
    const std::vector<own_node>* const nodes = home.held.find({want.name, owner, want.kind});
    if (!nodes || nodes->empty() || !home.lives(nodes->front()))
        return nullptr;
    return &nodes->front();
}

/// Describes the node to create. If a reader already has the write lock, its read node gets the
/// number of its write node. So the reader keeps its position in the queue when the write lock is
/// released.
queue_node::node_options node_options_of(const store_session& home, const ask& want) {
    const own_node* const under = node_under(home, want);
    const bool above = under && want.kind == lock_kind::write;
    queue_node::node_options made{home.where.of(want.name),
                                  node_prefix(home.form, want.kind, want.owner),
                                  home.data_for(want.owner, above ? last_part(under->path) : "")};
    if (under && want.kind == lock_kind::read) {
        made.prefix += number_text(under->path);
        made.numbered = false;
    }
    return made;
}

[[noreturn]] void fail_unfounded() {
    throw net::failure{errc::lease_lost, "the caller's other hold on this lock is gone"};
}

[[noreturn]] void fail_conflict() {
    throw net::failure{
        errc::would_deadlock,
        "another client waits until this reader has left, and is ahead of this upgrade"};
}

} // namespace

asio::awaitable<bool> predecessor_watch::watch_over(std::string path) {
    if (watch_ && path_ == path && !*rung_)
        co_return true;
    stop();
    path_ = path;
    rung_ = std::make_shared<bool>(false);
    std::function<void()> changed = [rung = rung_, &wake = wake_] {
        *rung = true;
        wake.ring();
    };
    watch_ = co_await home_.at->watch_node(std::move(path), std::move(changed));
    co_return watch_ != nullptr;
}

void predecessor_watch::stop() {
    watch_.reset();
}

lock_place::lock_place(std::shared_ptr<store_session> home, ask want, alarm& wake)
    : home_{std::move(home)}
    , want_{std::move(want)}
    , parent_{home_->where.of(want_.name)}
    , node_in_queue_{home_, node_options_of(*home_, want_)}
    , before_{*home_, wake}
    , upgraded_{*home_, wake} {}

lock_place::~lock_place() {
    if (granted_ && leaving_)
        home_->forget(want_); // leave() failed: delete the node in the background
    else if (granted_)
        (void)node_in_queue_.hand_over();
}

asio::awaitable<answer> lock_place::look() {
    const time_point began = home_->context.time.now();
    if (std::exchange(granted_, false)) // the grant came too late, and no caller used it
        home_->forget(want_);
    if (!is_founded(nullptr))
        fail_unfounded();
    const time_point last_start = home_->last_start(began);
    if (!want_.waits && !node_in_queue_.may_exist()) {
        const bool hopeless = co_await is_taken(last_start);
        if (hopeless)
            co_return busy();
    }
    for (int step = 0; step < steps_max && home_->context.time.now() < last_start; ++step) {
        std::vector<std::string> names = co_await node_in_queue_.among(last_start);
        const bool is_based = is_founded(&names);
        if (!is_based) // the number of a lost hold must not hide another kind
            std::erase(names, node_in_queue_.name());
        if (const char* const other = other_kind_than(want_.kind, names, node_in_queue_.name())) {
            co_await node_in_queue_.remove_until(last_start);
            throw_wrong_type(other, words_for(want_.kind));
        }
        if (!is_based)
            fail_unfounded();
        const standing mine = standing_of(names, node_in_queue_.name(), aside());
        if (mine.first) {
            co_await home_->prove_session(last_start);
            if (home_->lives(*node_in_queue_.node()))
                co_return granted(began);
            continue; // the session has ended, so the node is deleted
        }
        if (!mine.rivals.empty()) {
            const bool are_of_same_hold = co_await upgrade_same_hold(mine.rivals, last_start);
            if (!are_of_same_hold)
                fail_conflict();
        }
        if (!want_.waits) {
            co_await node_in_queue_.remove_until(last_start);
            co_return busy();
        }
        home_->require_time(last_start);
        std::string one_before = below(parent_, mine.behind);
        const bool are_there = co_await set_watches(std::move(one_before), last_start);
        if (are_there)
            co_return busy();
    }
    co_return answer{}; // the queue changes too fast: the caller pauses
}

/// Returns whether an attempt that does not wait would fail. Such an attempt need not create a
/// node. The connected server may not know of a release yet. So before this function reports a
/// failure, it lists the queue again after a sync.
asio::awaitable<bool> lock_place::is_taken(time_point last_start) {
    listing names = co_await home_->at->list(parent_);
    if (!names || (!other_kind_than(want_.kind, *names) && !is_taken_by(*names)))
        co_return false;
    home_->require_time(last_start);
    co_await home_->at->sync(parent_);
    home_->require_time(last_start);
    names = co_await home_->at->list(parent_);
    if (!names)
        co_return false;
    if (const char* const other = other_kind_than(want_.kind, *names))
        throw_wrong_type(other, words_for(want_.kind));
    co_return is_taken_by(*names);
}

bool lock_place::is_taken_by(const std::vector<std::string>& names) const {
    const bool reads = want_.kind == lock_kind::read;
    if (reads && want_.under != 0)
        return false;
    return zookeeper::is_taken(names, reads, aside());
}

/// Returns whether all the given writers upgrade the same read hold as this writer. Such writers do
/// not wait for this read hold, so they cause no deadlock.
asio::awaitable<bool> lock_place::upgrade_same_hold(std::vector<std::string> rivals,
                                                    time_point last_start) {
    for (const std::string& each : rivals) {
        if (std::ranges::find(fellow_upgrades_, each) != fellow_upgrades_.end())
            continue; // this node was read before, and its data never change
        home_->require_time(last_start);
        std::string path = below(parent_, each);
        const std::optional<node_data> node = co_await home_->at->get(std::move(path));
        const std::optional<told_owner> said = node ? owner_in_data(node->data) : std::nullopt;
        if (node && !aside().empty() && (!said || said->above != aside()))
            co_return false;
        fellow_upgrades_.push_back(each);
    }
    co_return true;
}

/// Watches the node before this one. For an upgrade, also watches the node of the read hold.
/// Returns false if one of these nodes does not exist; the caller then lists the queue again.
asio::awaitable<bool> lock_place::set_watches(std::string before, time_point last_start) {
    if (want_.under != 0 && want_.kind == lock_kind::write) {
        const own_node* const under = stood_on();
        if (!under)
            co_return false;
        std::string path = under->path;
        const bool is_there = co_await upgraded_.watch_over(std::move(path));
        if (!is_there)
            co_return false;
        home_->require_time(last_start);
    }
    co_return co_await before_.watch_over(std::move(before));
}

void lock_place::stop_watches() {
    before_.stop();
    upgraded_.stop();
}

answer lock_place::granted(time_point began) {
    stop_watches();
    const own_node& node = *node_in_queue_.node();
    home_->keep(want_, {node});
    granted_ = true;
    return answer{.granted = true,
                  .term = home_->term_since(began),
                  .token = static_cast<std::uint64_t>(node.czxid),
                  .tokens = 1};
}

answer lock_place::busy() const {
    return answer{.term = remote::jittered(home_->context.poll_bound, home_->context.random())};
}

/// Returns the node of the owner's hold that the request upgrades or downgrades. Returns null if
/// there is no such hold, or if its node no longer exists.
const own_node* lock_place::stood_on() const {
    return node_under(*home_, want_);
}

bool lock_place::is_founded(const std::vector<std::string>* names) const {
    if (want_.under == 0)
        return true;
    const own_node* const under = stood_on();
    return under && (!names || std::ranges::find(*names, last_part(under->path)) != names->end());
}

/// During an upgrade, returns the name of the owner's own read node. The writer does not wait for
/// this node.
std::string_view lock_place::aside() const {
    const own_node* const under = want_.kind == lock_kind::write ? stood_on() : nullptr;
    return under ? last_part(under->path) : std::string_view{};
}

asio::awaitable<void> lock_place::leave() {
    leaving_ = true;
    stop_watches();
    co_await node_in_queue_.remove();
    if (std::exchange(granted_, false))
        home_->forget(want_);
}

namespace {

constexpr std::size_t batch_max = 500;

/// Holds whose nodes one request checks.
struct batch_of_holds {
    std::vector<std::size_t> which{}; ///< index of each hold in the caller's list
    std::vector<std::size_t> ends{};  ///< for each hold: index after its last path
    std::vector<std::string> paths{};
};

/// Divides the holds into batches. All nodes of a hold are in the same batch. If the session of a
/// hold has ended, the hold is in no batch; its index is appended to `gone` instead.
std::vector<batch_of_holds> batches_of(const store_session& home, hold_list holds,
                                       std::vector<std::size_t>& gone) {
    std::vector<batch_of_holds> all;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const std::vector<own_node>* const nodes = home.held.find(*holds[i]);
        const auto lives = [&](const own_node& each) { return home.lives(each); };
        if (!nodes || !std::ranges::all_of(*nodes, lives)) {
            gone.push_back(i);
            continue;
        }
        if (all.empty() || all.back().paths.size() + nodes->size() > batch_max)
            all.emplace_back();
        batch_of_holds& to = all.back();
        for (const own_node& each : *nodes)
            to.paths.push_back(each.path);
        to.which.push_back(i);
        to.ends.push_back(to.paths.size());
    }
    return all;
}

/// Removes a lost hold from the table. Also deletes the remaining nodes of the hold, because no
/// release will follow.
void give_up(store_session& home, const hold& lost) {
    const std::vector<own_node>* const nodes = home.held.find(lost);
    if (!nodes)
        return;
    if (nodes->size() > 1)
        for (const own_node& each : *nodes)
            home.left_behind.add(each);
    home.forget(lost);
}

void report(store_session& home, hold_list holds, const batch_of_holds& some,
            const std::vector<bool>& there, duration term, renewal_sink& to) {
    auto from = there.begin();
    for (std::size_t i = 0; i < some.which.size(); ++i) {
        const auto end = there.begin() + static_cast<std::ptrdiff_t>(some.ends[i]);
        const bool held = std::all_of(from, end, [](bool is_there) { return is_there; });
        if (!held)
            give_up(home, *holds[some.which[i]]);
        to.renewed(some.which[i], held ? answer{.granted = true, .term = term} : answer{});
        from = end;
    }
}

void report(const batch_of_holds& some, const boost::system::system_error& why, renewal_sink& to) {
    for (const std::size_t which : some.which)
        to.failed(which, why);
}

} // namespace

asio::awaitable<void> renew_holds(std::shared_ptr<store_session> home, hold_list holds,
                                  time_point answer_by, renewal_sink& to) {
    const std::int64_t session = home->at->state().id;
    std::vector<std::size_t> gone;
    const std::vector<batch_of_holds> batches = batches_of(*home, holds, gone);
    for (const std::size_t which : gone) {
        give_up(*home, *holds[which]);
        to.renewed(which, answer{});
    }
    // Error of a batch that got no answer. The later batches are then not sent, because the server
    // would not answer them either.
    std::optional<boost::system::system_error> silent;
    for (const batch_of_holds& each : batches) {
        if (silent) {
            report(each, *silent, to);
            continue;
        }
        const time_point began = home->context.time.now();
        std::vector<bool> there;
        std::optional<boost::system::system_error> trouble;
        try {
            there = co_await home->at->confirm(each.paths, answer_by);
        } catch (const boost::system::system_error& why) {
            trouble = why;
        }
        if (trouble) {
            report(each, *trouble, to);
            if (trouble->code() != errc::refused)
                silent.emplace(make_error_code(errc::unreachable), trouble->what());
            continue;
        }
        if (home->at->state().id != session)
            there.assign(each.paths.size(), false);
        report(*home, holds, each, there, home->term_since(began), to);
    }
}

namespace {

/// Deletes a node. Returns whether the node existed before.
asio::awaitable<bool> delete_node(store_session& home, own_node node) {
    if (!home.lives(node))
        co_return false;
    std::string path = node.path;
    const session::removal got = co_await home.at->remove(std::move(path));
    co_return got == session::removal::removed || home.left_behind.take_deleted(node);
}

} // namespace

asio::awaitable<release_answer> release_nodes(std::shared_ptr<store_session> home, hold what) {
    const std::vector<own_node>* const kept = home->held.find(what);
    if (!kept)
        co_return release_answer{};
    const std::vector<own_node> nodes = *kept;
    bool all = true;
    try {
        for (const own_node& each : nodes) {
            const bool was_there = co_await delete_node(*home, each);
            all = all && was_there;
        }
    } catch (const boost::system::system_error&) {
        for (const own_node& each : nodes)
            home->left_behind.add(each, true);
        throw;
    }
    home->forget(what);
    const bool is_permit = what.kind == lock_kind::permit;
    const node_mode parents_mode = is_permit ? node_mode::persistent : node_mode::container;
    co_await renew_numbers(*home, nodes.front().path, parents_mode);
    co_return release_answer{.was_ours = all};
}

bool zookeeper_locks::offers(lock_kind kind) const noexcept {
    switch (kind) {
    case lock_kind::plain:
    case lock_kind::fenced:
    case lock_kind::fair:
    case lock_kind::read:
    case lock_kind::write:
    case lock_kind::permit:
        return true;
    case lock_kind::spin:
    case lock_kind::token:
        break;
    }
    return false;
}

/// Returns the limits. An attempt takes at most two command timeouts: it starts no request after
/// the first one has passed, and its last request may take the second one.
///
/// An attempt may create the nodes above its own node, list the queue, and set a watch. An attempt
/// to take several permits creates their nodes one by one, so it may take longer at a slow server.
limits zookeeper_locks::bounds() const noexcept {
    return {.name_bytes_max = paths::bytes_max,
            .time_limit = 2 * home_->at->command_timeout(),
            .by_session = true};
}

std::unique_ptr<place> zookeeper_locks::line_up(ask want, alarm& wake) {
    if (want.kind == lock_kind::permit)
        return std::make_unique<permit_place>(home_, std::move(want), wake);
    return std::make_unique<lock_place>(home_, std::move(want), wake);
}

asio::awaitable<void> zookeeper_locks::renew(hold_list holds, const renewal_options& how,
                                             renewal_sink& to) {
    return renew_holds(home_, holds, how.answer_by, to);
}

asio::awaitable<release_answer> zookeeper_locks::release(hold what) {
    return release_nodes(home_, std::move(what));
}

/// Watches only the first node of the hold. This is usually enough, because a forced release
/// deletes all nodes of the hold. If a permit is given back by its id, only the node of this permit
/// is deleted. This deletion may be missed; the next renewal notices it.
std::unique_ptr<watch> zookeeper_locks::watch_over(const hold& what, revalidator& whom) {
    const std::vector<own_node>* const nodes = home_->held.find(what);
    if (!nodes || nodes->empty())
        return nullptr;
    return home_->own_watches.over(nodes->front(), whom);
}

} // namespace holdfast::zookeeper
