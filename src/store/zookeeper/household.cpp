// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/household.hpp"

#include "runtime/background.hpp"
#include "store/remote/diagnostics.hpp"
#include "store/zookeeper/formats.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

household::household(std::unique_ptr<session> session, store_context home, const options& how)
    : context{std::move(home)}
    , where{how.root, how.names_are_paths}
    , form{how.form}
    , at{std::move(session)}
    , left_behind{*this}
    , own_watches{*this} {
    if (context.announce)
        card_ = remote::card_of(context);
}

household::~household() = default;

void household::begin() {
    std::function<void(session_news)> heard = [this](session_news what) { hear(what); };
    news_ = at->on_news(std::move(heard));
}

void household::close() noexcept {
    closed_ = true;
    news_.reset();
    left_behind.close();
    own_watches.close();
    at->close();
    holding_.reset();
}

void household::hear(session_news what) {
    if (what == session_news::ended)
        left_behind.session_ended();
    if (what == session_news::resumed) {
        left_behind.try_all();
        own_watches.try_again();
    }
    if (what == session_news::opened && !where.root().empty())
        runtime::run_in_background(context, read_root(shared_from_this()));
    const bool matters = what == session_news::resumed || what == session_news::ended;
    if (matters && context.doubt)
        context.doubt({}, true);
}

/// Reads the identity of the ensemble from the root node. If the root does not exist yet,
/// `make_node` reads the identity when it makes the root.
asio::awaitable<void> household::read_root(std::shared_ptr<household>) {
    try {
        std::string root = where.root();
        const std::optional<node_data> found = co_await at->get(std::move(root));
        if (found)
            learn_root(found->stat);
    } catch (const boost::system::system_error&) {
        // The root is read again in the next session. Until then the ensemble's identity is
        // unknown.
    }
}

void household::keep(const hold& what, std::vector<own_node> nodes) {
    if (!holding_)
        holding_ = at->in_use();
    held.keep(what, std::move(nodes));
}

void household::forget(const hold& what) {
    held.forget(what);
    if (held.empty())
        holding_.reset();
}

duration household::term_since(time_point began) const {
    const time_point until = at->state().alive_until;
    return until > began ? until - began : duration::zero();
}

std::string household::data_for(const owner_id& owner, std::string_view above) const {
    return data_of(owner, card_, above);
}

asio::awaitable<void> household::make_path(std::string path, node_mode last) {
    const auto mode_of = [&](std::string_view each) {
        const bool is_roots = !where.root().empty() && each.size() <= where.root().size();
        return is_roots ? node_mode::persistent : each == path ? last : node_mode::container;
    };
    // Start with the last node of the path, because usually only the last node is missing.
    std::vector<std::string> missing;
    for (std::string_view each = path; each != "/"; each = parent_of(each)) {
        missing.emplace_back(each);
        const bool is_there = co_await make_node(missing.back(), mode_of(each));
        if (is_there) {
            missing.pop_back();
            break;
        }
    }
    for (; !missing.empty(); missing.pop_back())
        co_await make_node(missing.back(), mode_of(missing.back()));
}

/// Makes the node. Returns false if its parent does not exist. Servers before 3.5.3 have no
/// container nodes; there the node is made persistent.
asio::awaitable<bool> household::make_node(std::string path, node_mode mode) {
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

void household::learn_root(const node_stat& root) {
    ensemble_ = "zookeeper:" + std::to_string(root.czxid) + ":" + std::to_string(root.made_at);
}

} // namespace holdfast::zookeeper
