// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/permit_place.hpp"

#include "net/failure.hpp"
#include "store/remote/attempts.hpp"
#include "store/zookeeper/order.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr int turns_max = 10;

/// Maximum number of permits in one request. The limit exists because one renewal checks at most
/// this number of nodes.
constexpr std::uint32_t permits_most = 500;

/// Mode of both folders. The ensemble would delete empty container nodes, and the total number of
/// permits would then be lost.
constexpr node_mode mode_above = node_mode::persistent;

claim::wish turn_wish(const household& home, const ask& want, const semaphore_paths& at) {
    return {at.locks, node_prefix(node_form::curator, lock_kind::plain, want.owner),
            home.data_for(want.owner), true, mode_above};
}

claim::wish seat_wish(const household& home, const owner_id& owner, const semaphore_paths& at) {
    return {at.leases, permit_prefix(owner), home.data_for(owner), true, mode_above};
}

} // namespace

permit_place::permit_place(std::shared_ptr<household> home, ask want, alarm& wake)
    : home_{std::move(home)}
    , want_{std::move(want)}
    , wake_{wake}
    , at_{home_->where, want_.name}
    , turn_{home_, turn_wish(*home_, want_, at_)}
    , before_{*home_, wake} {
    owner_id each = want_.owner;
    for (std::uint32_t i = 0; i < want_.permits; ++i, ++each.number)
        seats_.push_back(std::make_unique<claim>(home_, seat_wish(*home_, each, at_)));
}

permit_place::~permit_place() {
    if (granted_ && !leaving_)
        for (const std::unique_ptr<claim>& each : seats_)
            (void)each->hand_over();
}

bool permit_place::must_leave() const noexcept {
    return granted_ || turn_.may_exist() ||
           std::ranges::any_of(seats_, [](const auto& each) { return each->may_exist(); });
}

bool permit_place::uncertain() const noexcept {
    return turn_.uncertain() ||
           std::ranges::any_of(seats_, [](const auto& each) { return each->uncertain(); });
}

asio::awaitable<answer> permit_place::look() {
    const time_point began = home_->context.time.now();
    if (std::exchange(granted_, false))
        home_->forget(want_);
    if (want_.permits > permits_most)
        throw net::failure{errc::invalid_argument, "on ZooKeeper at most " +
                                                       std::to_string(permits_most) +
                                                       " permits are had at once: each is a node"};
    const std::optional<std::int64_t> all = co_await capacity();
    if (!all)
        co_return co_await busy();
    if (want_.permits > *all)
        throw net::failure{errc::invalid_argument, "'" + want_.name.text + "' has " +
                                                       std::to_string(*all) +
                                                       " permits in all, fewer than are wanted"};
    if (!want_.waits && !must_leave()) {
        const bool hopeless = co_await is_busy(*all);
        if (hopeless)
            co_return co_await busy();
    }
    bool enough = co_await is_my_turn();
    if (enough)
        enough = co_await has_seats(*all);
    if (!enough)
        co_return co_await busy();
    co_await home_->prove_session();
    if (!std::ranges::all_of(seats_,
                             [this](const auto& each) { return home_->lives(*each->node()); }))
        co_return answer{}; // the session has ended in the meantime: make all nodes again
    co_return co_await granted(began);
}

/// Returns the total number of permits. Returns an empty result if the total is not set yet. A
/// waiter then watches the semaphore's node, so that it notices when the total is set.
asio::awaitable<std::optional<std::int64_t>> permit_place::capacity() {
    const std::optional<std::int64_t> known = co_await read_capacity(*home_, at_);
    if (!known)
        co_await refuse_lock(*home_, at_);
    if (known || !want_.waits)
        co_return known;
    std::string path = at_.itself;
    const bool is_there = co_await before_.watch_over(path);
    if (!is_there) {
        co_await home_->make_path(path, mode_above);
        co_await before_.watch_over(path);
    }
    co_return co_await read_capacity(*home_, at_);
}

/// Checks whether an attempt without waiting would fail. This check avoids useless writes.
asio::awaitable<bool> permit_place::is_busy(std::int64_t capacity) {
    const listing waiting = co_await home_->at->list(at_.locks);
    if (waiting && is_taken(*waiting, false))
        co_return true;
    const listing held = co_await home_->at->list(at_.leases);
    co_return held&& static_cast<std::int64_t>(held->size()) + want_.permits > capacity;
}

asio::awaitable<bool> permit_place::is_my_turn() {
    for (int turn = 0; turn < turns_max; ++turn) {
        const std::vector<std::string> names = co_await turn_.among();
        const standing mine = standing_of(names, turn_.name());
        if (mine.first)
            co_return true;
        if (!want_.waits)
            co_return false;
        std::string one_before = below(at_.locks, mine.behind);
        const bool is_there = co_await before_.watch_over(std::move(one_before));
        if (is_there)
            co_return false;
    }
    wake_.ring();
    co_return false;
}

/// Makes the nodes for the permits, if enough permits are free. All nodes count, even unused nodes,
/// because Curator counts them too: Curator makes its node before it waits for a free permit. No
/// other client adds nodes meanwhile, because this client holds the semaphore's mutex.
asio::awaitable<bool> permit_place::has_seats(std::int64_t capacity) {
    const auto fit = [capacity](std::size_t taken) {
        return static_cast<std::int64_t>(taken) <= capacity;
    };
    others_leases_.reset();
    session::watched_listing now = co_await home_->at->list_and_watch(at_.leases, wake_);
    others_leases_ = std::move(now.children_watched);
    const std::size_t taken = now.children ? now.children->size() : 0;
    const auto missing = static_cast<std::size_t>(
        std::ranges::count_if(seats_, [](const auto& each) { return !each->may_exist(); }));
    if (!fit(taken + missing))
        co_return false;
    std::size_t all = 0;
    for (const std::unique_ptr<claim>& each : seats_) {
        const std::vector<std::string> names = co_await each->among();
        all = names.size();
    }
    co_return fit(all);
}

asio::awaitable<answer> permit_place::granted(time_point began) {
    before_.stop();
    others_leases_.reset();
    std::vector<own_node> nodes;
    for (const std::unique_ptr<claim>& each : seats_)
        nodes.push_back(*each->node());
    answer said{
        .granted = true, .token = static_cast<std::uint64_t>(nodes.front().czxid), .tokens = 1};
    home_->keep(want_, std::move(nodes));
    granted_ = true;
    try {
        co_await turn_.remove();
    } catch (const boost::system::system_error&) {
        // The node is deleted later, in the background. The permits are granted even if the
        // deletion fails now.
    }
    said.term = home_->term_since(began);
    co_return said;
}

asio::awaitable<answer> permit_place::busy() {
    if (!want_.waits && must_leave()) {
        for (const std::unique_ptr<claim>& each : seats_)
            co_await each->remove();
        co_await turn_.remove();
    }
    co_return answer{.term = remote::jittered(home_->context.poll_bound, home_->context.random())};
}

asio::awaitable<void> permit_place::leave() {
    leaving_ = true;
    before_.stop();
    others_leases_.reset();
    for (const std::unique_ptr<claim>& each : seats_)
        co_await each->remove();
    co_await turn_.remove();
    if (std::exchange(granted_, false))
        home_->forget(want_);
}

} // namespace holdfast::zookeeper
