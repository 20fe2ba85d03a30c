// SPDX-License-Identifier: Apache-2.0
// How one client waits for one lock. It makes a node and lists the queue. Then it watches the node
// before its own, sleeps and lists again, in a loop.
#include "store/zookeeper/place.hpp"

#include "net/failure.hpp"
#include "store/remote/attempts.hpp"
#include "store/zookeeper/other_kinds.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Maximum number of times that one attempt lists the queue. The node before ours may be deleted
/// between the list and the watch. The queue is then listed again.
constexpr int steps_max = 10;

/// Returns the number in a node's name. Another node of the same owner will get the same number.
std::string_view number_text(std::string_view node) {
    constexpr std::size_t digits = 10;
    return node.substr(node.size() - std::min(digits, node.size()));
}

const own_node* node_under(const household& home, const ask& want) {
    if (want.under == 0)
        return nullptr;
    owner_id owner = want.owner;
    owner.number = want.under;
    const std::vector<own_node>* const nodes = home.held.find({want.name, owner, want.kind});
    if (!nodes || nodes->empty() || !home.lives(nodes->front()))
        return nullptr;
    return &nodes->front();
}

/// Returns the node to make. A reader that already has the write lock uses the number of its write
/// node. The reader thus keeps its position in the queue after the write lock is released.
claim::wish wish_of(const household& home, const ask& want) {
    const own_node* const under = node_under(home, want);
    const bool above = under && want.kind == lock_kind::write;
    claim::wish made{home.where.of(want.name), node_prefix(home.form, want.kind, want.owner),
                     home.data_for(want.owner, above ? last_part(under->path) : "")};
    if (under && want.kind == lock_kind::read) {
        made.prefix += number_text(under->path);
        made.numbered = false;
    }
    return made;
}

[[noreturn]] void fail_unfounded() {
    throw net::failure{errc::lease_lost, "the hold that it was to stand beside is gone"};
}

[[noreturn]] void fail_conflict() {
    throw net::failure{errc::would_deadlock,
                       "another waits for this reader to leave, and comes before its upgrade"};
}

} // namespace

asio::awaitable<bool> sentry::watch_over(std::string path) {
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

void sentry::stop() {
    watch_.reset();
}

lock_place::lock_place(std::shared_ptr<household> home, ask want, alarm& wake)
    : home_{std::move(home)}
    , want_{std::move(want)}
    , parent_{home_->where.of(want_.name)}
    , spot_{home_, wish_of(*home_, want_)}
    , before_{*home_, wake} {}

lock_place::~lock_place() {
    if (granted_ && !leaving_)
        (void)spot_.hand_over();
}

asio::awaitable<answer> lock_place::look() {
    const time_point began = home_->context.time.now();
    if (std::exchange(granted_, false)) // the grant came too late and nobody used it
        home_->forget(want_);
    check_foundation(nullptr);
    if (!want_.waits && !spot_.may_exist()) {
        const bool hopeless = co_await is_taken();
        if (hopeless)
            co_return busy();
    }
    const time_point enough = began + home_->at->command_timeout();
    for (int step = 0; step < steps_max && home_->context.time.now() < enough; ++step) {
        const std::vector<std::string> names = co_await spot_.among();
        check_foundation(&names);
        if (const char* const other = other_kind_than(want_.kind, names, spot_.name())) {
            co_await spot_.remove();
            throw_wrong_type(other, words_for(want_.kind));
        }
        const standing mine = standing_of(names, spot_.name(), aside());
        if (mine.first) {
            co_await home_->prove_session();
            if (home_->lives(*spot_.node()))
                co_return granted(began);
            continue; // the session has ended in the meantime, so the node is deleted
        }
        if (mine.conflict)
            fail_conflict();
        if (!want_.waits) {
            co_await spot_.remove();
            co_return busy();
        }
        std::string one_before = below(parent_, mine.behind);
        const bool is_there = co_await before_.watch_over(std::move(one_before));
        if (is_there)
            co_return busy();
    }
    co_return answer{}; // the queue changes too fast; the caller pauses before its next attempt
}

/// Checks whether an attempt without waiting would fail. This check avoids useless writes.
asio::awaitable<bool> lock_place::is_taken() {
    const listing names = co_await home_->at->list(parent_);
    const bool reads = want_.kind == lock_kind::read;
    if (!names || (reads && want_.under != 0))
        co_return false;
    if (const char* const other = other_kind_than(want_.kind, *names))
        throw_wrong_type(other, words_for(want_.kind));
    co_return zookeeper::is_taken(*names, reads, aside());
}

answer lock_place::granted(time_point began) {
    before_.stop();
    const own_node& node = *spot_.node();
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

/// Returns the node of the owner's other hold, from which the request upgrades or downgrades. Null:
/// no other hold, or its node is gone.
const own_node* lock_place::stood_on() const {
    return node_under(*home_, want_);
}

void lock_place::check_foundation(const std::vector<std::string>* names) const {
    if (want_.under == 0)
        return;
    const own_node* const under = stood_on();
    if (!under || (names && std::ranges::find(*names, last_part(under->path)) == names->end()))
        fail_unfounded();
}

/// Returns the owner's own read node during an upgrade. The writer does not wait for it.
std::string_view lock_place::aside() const {
    const own_node* const under = want_.kind == lock_kind::write ? stood_on() : nullptr;
    return under ? last_part(under->path) : std::string_view{};
}

asio::awaitable<void> lock_place::leave() {
    leaving_ = true;
    before_.stop();
    co_await spot_.remove();
    if (std::exchange(granted_, false))
        home_->forget(want_);
}

} // namespace holdfast::zookeeper
