// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/store_session.hpp"

#include "net/failure.hpp"
#include "runtime/background.hpp"
#include "store/remote/diagnostics.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <functional>

namespace holdfast::zookeeper {

store_session::store_session(std::unique_ptr<session> session, store_context home,
                             const options& how)
    : context{std::move(home)}
    , where{how.root, how.names_are_paths}
    , form{how.form}
    , at{std::move(session)}
    , left_behind{*this}
    , own_watches{*this} {
    if (context.announce)
        info_ = remote::client_info_of(context);
}

store_session::~store_session() = default;

void store_session::begin() {
    std::function<void(session_news)> heard = [this](session_news what) { hear(what); };
    news_ = at->on_news(std::move(heard));
}

void store_session::close() noexcept {
    closed_ = true;
    news_.reset();
    left_behind.close();
    own_watches.close();
    at->close();
    holding_.reset();
}

void store_session::hear(session_news what) {
    if (what == session_news::ended)
        left_behind.session_ended();
    if (what == session_news::resumed) {
        left_behind.try_all();
        own_watches.try_again();
    }
    if (what == session_news::opened && !where.root().empty())
        runtime::run_in_background(context, read_root(shared_from_this()));
    const bool matters = what == session_news::resumed || what == session_news::ended;
    if (matters && context.revalidate)
        context.revalidate({}, true);
}

/// Reads the identity of the ensemble from the root node. If the root does not exist yet,
/// make_node() reads the identity when it creates the root.
asio::awaitable<void> store_session::read_root(std::shared_ptr<store_session>) {
    try {
        std::string root = where.root();
        const std::optional<node_data> found = co_await at->get(std::move(root));
        if (found)
            learn_root(found->stat);
    } catch (const boost::system::system_error&) {
        // Ignore the error. The client reads the root again in the next session. Until then, the
        // identity of the ensemble is unknown.
    }
}

void store_session::keep(const hold& what, std::vector<own_node> nodes) {
    if (!holding_)
        holding_ = at->in_use();
    held.keep(what, std::move(nodes));
}

void store_session::forget(const hold& what) {
    held.forget(what);
    if (held.empty())
        holding_.reset();
}

duration store_session::term_since(time_point began) const {
    const time_point until = at->state().alive_until;
    return until > began ? until - began : duration::zero();
}

std::string store_session::data_for(const owner_id& owner, std::string_view above) const {
    return data_of(owner, info_, above);
}

void store_session::require_time(time_point last_start) const {
    if (context.time.now() >= last_start)
        throw net::failure{errc::unreachable,
                           at->address() + " answers too slowly: the time limit of an attempt is " +
                               std::to_string(2 * at->command_timeout().count()) + " ms"};
}

asio::awaitable<void> store_session::make_path(std::string path, node_mode last,
                                               time_point last_start) {
    const auto mode_of = [&](std::string_view each) {
        const bool is_roots = !where.root().empty() && each.size() <= where.root().size();
        return is_roots ? node_mode::persistent : each == path ? last : node_mode::container;
    };
    // Begin with the last node of the path: usually only this node is missing.
    std::vector<std::string> missing;
    for (std::string_view each = path; each != "/"; each = parent_of(each)) {
        missing.emplace_back(each);
        require_time(last_start);
        const bool is_there = co_await make_node(missing.back(), mode_of(each));
        if (is_there) {
            missing.pop_back();
            break;
        }
    }
    for (; !missing.empty(); missing.pop_back()) {
        require_time(last_start);
        co_await make_node(missing.back(), mode_of(missing.back()));
    }
}

/// Creates the node. Returns false if its parent does not exist. Servers before 3.5.3 have no
/// container nodes, so the node is persistent there.
asio::awaitable<bool> store_session::make_node(std::string path, node_mode mode) {
    bool knows = true;
    try {
        new_node wanted{path, {}, mode};
        const session::creation made = co_await at->create(std::move(wanted));
        if (made.why == session::refusal::none && path == where.root())
            learn_root(made.node.stat);
        co_return made.why != session::refusal::no_parent;
    } catch (const boost::system::system_error& why) {
        knows = mode != node_mode::container || why.code() != store_errc::other;
        if (knows)
            throw;
    }
    new_node instead{std::move(path), {}, node_mode::persistent};
    const session::creation made = co_await at->create(std::move(instead));
    co_return made.why != session::refusal::no_parent;
}

void store_session::learn_root(const node_stat& root) {
    ensemble_ = "zookeeper:" + std::to_string(root.czxid) + ":" + std::to_string(root.made_at);
}

namespace {

/// Delay between a grant and the watch of its node. Most holds end within this delay, so they need
/// no watch. Other clients rarely delete a node so soon.
constexpr duration unwatched_for{100};

} // namespace

struct node_watcher::entry {
    entry(own_node n, revalidator& d)
        : node{std::move(n)}
        , whom{d} {}
    own_node node;
    revalidator& whom;
    time_point from{};
    std::unique_ptr<watch> set{};
    entries* in = nullptr;
    entries::iterator at{};
};

class node_watcher::membership final : public watch {
public:
    membership(std::shared_ptr<store_session> home, std::shared_ptr<entry> one)
        : home_{std::move(home)}
        , one_{std::move(one)} {}
    membership(const membership&) = delete;
    ~membership() override {
        one_->set.reset();
        one_->in->erase(one_->at);
    }

private:
    const std::shared_ptr<store_session> home_;
    const std::shared_ptr<entry> one_;
};

std::unique_ptr<watch> node_watcher::over(own_node node, revalidator& whom) {
    const auto one = std::make_shared<entry>(std::move(node), whom);
    one->in = &unwatched_;
    one->at = unwatched_.insert(unwatched_.end(), one);
    wait_for(one);
    return std::make_unique<membership>(home_.shared_from_this(), one);
}

void node_watcher::wait_for(const std::shared_ptr<entry>& one) {
    unwatched_.splice(unwatched_.end(), *one->in, one->at);
    one->in = &unwatched_;
    one->from = home_.context.time.now() + unwatched_for;
    if (running_ || home_.is_closed())
        return;
    running_ = true;
    if (!wake_)
        wake_ = home_.context.time.make_alarm();
    runtime::run_in_background(home_.context, run(home_.shared_from_this()));
}

void node_watcher::try_again() {
    const entries all = watched_;
    for (const std::shared_ptr<entry>& each : all)
        if (!each->set)
            wait_for(each);
}

void node_watcher::close() noexcept {
    if (wake_)
        wake_->ring();
}

asio::awaitable<void> node_watcher::run(std::shared_ptr<store_session> home) {
    while (!home->is_closed() && !unwatched_.empty()) {
        const time_point from = unwatched_.front()->from;
        if (from > home->context.time.now()) {
            co_await wake_->wait_until(from);
            continue;
        }
        const std::weak_ptr<entry> one = unwatched_.front();
        unwatched_.front()->in = &watched_;
        watched_.splice(watched_.end(), unwatched_, unwatched_.begin());
        co_await set(one);
    }
    running_ = false;
}

asio::awaitable<void> node_watcher::set(std::weak_ptr<entry> one) {
    const std::string path = one.lock()->node.path;
    std::function<void()> rung = [this, one] { changed(one); };
    std::unique_ptr<watch> made;
    try {
        made = co_await home_.at->watch_node(path, std::move(rung));
    } catch (const boost::system::system_error&) {
        co_return; // renewals check the node even without a watch
    }
    const std::shared_ptr<entry> there = one.lock();
    if (!there)
        co_return;
    there->set = std::move(made);
    if (!there->set)
        there->whom.revalidate();
}

/// Reports to the client that the hold may be lost, because its node has changed. Sets the watch
/// again, because a watch fires only once.
void node_watcher::changed(const std::weak_ptr<entry>& one) {
    const std::shared_ptr<entry> there = one.lock();
    if (!there || home_.is_closed())
        return;
    wait_for(there);
    there->whom.revalidate();
}

namespace {

/// Shortest and longest pause between two rounds of deletions, in ms. Each failure of the server
/// doubles the pause.
constexpr duration orphans_first_pause{100}, orphans_longest_pause{5000};

} // namespace

void undeleted_nodes::add(own_node node, bool asked_for) {
    if (!home_.lives(node))
        return;
    const auto same = [&](const entry& each) {
        return !each.unseen && below(each.parent, each.name) == node.path;
    };
    if (std::ranges::none_of(left_, same))
        left_.push_back({std::string{parent_of(node.path)}, std::string{last_part(node.path)},
                         false, asked_for});
    try_all();
}

void undeleted_nodes::add_unseen(std::string parent, std::string prefix) {
    left_.push_back({std::move(parent), std::move(prefix), true});
    try_all();
}

bool undeleted_nodes::take_deleted(const own_node& node) {
    return std::erase(deleted_, node.path) != 0;
}

void undeleted_nodes::session_ended() {
    left_.clear();
    deleted_.clear();
    close();
}

void undeleted_nodes::close() noexcept {
    if (wake_)
        wake_->ring();
}

bool undeleted_nodes::can_try() const {
    return !left_.empty() && !home_.is_closed() && home_.at->state().connected;
}

void undeleted_nodes::try_all() {
    if (trying_)
        return wake_->ring();
    if (!can_try())
        return;
    trying_ = true;
    if (!wake_)
        wake_ = home_.context.time.make_alarm();
    runtime::run_in_background(home_.context, keep_trying(home_.shared_from_this()));
}

asio::awaitable<void> undeleted_nodes::keep_trying(std::shared_ptr<store_session> home) {
    for (duration pause = orphans_first_pause; can_try();
         pause = std::min(2 * pause, orphans_longest_pause)) {
        co_await try_each(*home);
        if (can_try())
            co_await wake_->wait_until(home->context.time.now() + pause);
    }
    trying_ = false;
}

asio::awaitable<void> undeleted_nodes::try_each(store_session& home) {
    for (std::size_t left = left_.size(); left > 0 && !left_.empty(); --left) {
        // Remove the entry from the list before the request starts, because the list may be cleared
        // while the request runs.
        const entry one = left_.front();
        left_.pop_front();
        const std::int64_t session = home.at->state().id;
        bool again = false;
        try {
            co_await try_one(one);
        } catch (const boost::system::system_error&) {
            again = home.at->state().id == session;
        }
        if (again)
            left_.push_back(one);
        else if (one.asked_for)
            deleted_.push_back(below(one.parent, one.name));
    }
}

asio::awaitable<void> undeleted_nodes::try_one(entry one) {
    if (one.unseen)
        co_return co_await delete_unseen(home_, one.parent, one.name);
    std::string path = below(one.parent, one.name);
    co_await home_.at->remove(path);
}

asio::awaitable<std::vector<own_node>> find_unseen(store_session& home, std::string parent,
                                                   std::string prefix, time_point last_start) {
    home.require_time(last_start);
    co_await home.at->sync(parent);
    home.require_time(last_start);
    listing children;
    try {
        children = co_await home.at->list(parent);
    } catch (const boost::system::system_error& why) {
        if (why.code() != store_errc::not_set_up)
            throw;
        // Ignore the error. It means that the chroot does not exist, so no node exists either. The
        // next attempt reports the error.
    }
    std::vector<own_node> found;
    if (!children)
        co_return found;
    for (const std::string& each : *children) {
        if (!each.starts_with(prefix))
            continue;
        home.require_time(last_start);
        std::string path = below(parent, each);
        const std::optional<node_data> node = co_await home.at->get(path);
        // Skip nodes of an earlier session. ZooKeeper deletes them when that session expires, and
        // they hold no lock of this client.
        if (node && node->stat.ephemeral_owner == home.at->state().id)
            found.emplace_back(std::move(path), node->stat.ephemeral_owner, node->stat.czxid);
    }
    std::ranges::sort(found, {}, &own_node::czxid);
    co_return found;
}

asio::awaitable<void> delete_unseen(store_session& home, std::string parent, std::string prefix) {
    const std::vector<own_node> found = co_await find_unseen(home, parent, prefix);
    for (const own_node& each : found)
        co_await home.at->remove(each.path);
}

} // namespace holdfast::zookeeper
