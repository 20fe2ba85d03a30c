// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/claim.hpp"

#include "net/failure.hpp"
#include "store/zookeeper/formats.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Last node number that is used. The server numbers the nodes below a path with 31 bits. Greater
/// numbers would be out of order, and some servers then repeat the last number.
constexpr std::int64_t number_last = (std::int64_t{1} << 31) - (std::int64_t{1} << 20);

/// Maximum number of attempts in one call. An attempt fails if the session ends or the node is
/// deleted. It also fails if the ensemble deletes the empty path above the node.
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
                       "the numbers below '" + parent + "' have ended: it has had " +
                           std::to_string(number_last) +
                           " nodes or more. It is made anew when nobody uses it"};
}

void refuse_too_long(const std::string& parent, std::size_t length) {
    if (length > line_longest)
        throw net::failure{store_errc::out_of_memory,
                           std::to_string(length) + " nodes are below '" + parent +
                               "', more than " + std::to_string(line_longest)};
}

} // namespace

claim::claim(std::shared_ptr<household> home, wish want)
    : home_{std::move(home)}
    , want_{std::move(want)} {}

claim::~claim() {
    if (mine_)
        home_->left_behind.add(std::move(*mine_));
    if (unseen_)
        home_->left_behind.add_unseen(want_.parent, want_.prefix);
}

own_node claim::hand_over() {
    own_node node = std::move(*mine_);
    mine_.reset();
    return node;
}

asio::awaitable<std::vector<std::string>> claim::among() {
    const time_point enough = home_->context.time.now() + home_->at->command_timeout();
    for (int round = 0; round < rounds_max && home_->context.time.now() < enough; ++round) {
        if (unseen_)
            co_await find();
        if (mine_ && !home_->lives(*mine_))
            mine_.reset(); // the node was deleted with its session
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
        if (names || !mine_) // the node or its session is gone: make the node again
            mine_.reset();
    }
    throw net::failure{errc::unreachable, "the node below '" + want_.parent +
                                              "' was gone again and again when it was looked for"};
}

asio::awaitable<std::optional<std::vector<std::string>>> claim::list_beside() {
    listing names = co_await home_->at->list(want_.parent);
    if (!names)
        names.emplace(); // the whole path was deleted
    co_return names;
}

/// Deletes the parent after its numbers are used up, if the parent is empty and has no data. A new
/// parent numbers its nodes from 0 again.
asio::awaitable<void> claim::make_parent_anew() {
    co_await remove();
    std::string path = want_.parent;
    const std::optional<node_data> parent = co_await home_->at->get(path);
    if (parent && !parent->data.empty())
        refuse_worn_out(want_.parent);
    const session::removal got = co_await home_->at->remove(std::move(path));
    if (got == session::removal::has_children)
        refuse_worn_out(want_.parent);
}

/// Makes the node. Returns an empty result if the caller must repeat the call. That is so if the
/// path above was missing and was made now, or if the node already existed.
asio::awaitable<std::optional<std::vector<std::string>>> claim::make() {
    const node_mode mode = want_.numbered ? node_mode::ephemeral_sequential : node_mode::ephemeral;
    new_node wanted{below(want_.parent, want_.prefix), want_.data, mode};
    unseen_ = true;
    session::entrance got;
    try {
        got = co_await home_->at->create_and_list(std::move(wanted), want_.parent);
    } catch (const boost::system::system_error& why) {
        unseen_ = !was_not_made(why.code());
        throw;
    }
    unseen_ = false;
    switch (got.made.why) {
    case session::refusal::no_parent:
        co_await home_->make_path(want_.parent, want_.parents_mode);
        co_return std::nullopt;
    case session::refusal::exists: // an earlier request or an earlier session made the node
        co_await find();
        co_return std::nullopt;
    case session::refusal::none:
        break;
    }
    const node_stat& made = got.made.node.stat;
    mine_.emplace(std::move(got.made.node.path), made.ephemeral_owner, made.czxid);
    co_return std::move(got.children);
}

/// Looks for the node after an answer was lost. A node that does not exist now will never exist,
/// because the server has finished the earlier request.
asio::awaitable<void> claim::find() {
    std::vector<own_node> found = co_await find_unseen(*home_, want_.parent, want_.prefix);
    unseen_ = false;
    mine_.reset();
    for (own_node& each : found)
        if (!mine_)
            mine_ = std::move(each);
        else
            home_->left_behind.add(std::move(each));
}

asio::awaitable<void> claim::remove() {
    if (unseen_)
        co_await find();
    if (mine_ && home_->lives(*mine_)) {
        std::string path = mine_->path;
        co_await home_->at->remove(std::move(path));
    }
    mine_.reset();
}

bool claim::is_among(const std::vector<std::string>& names) const {
    return std::ranges::find(names, name()) != names.end();
}

} // namespace holdfast::zookeeper
