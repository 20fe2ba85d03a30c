// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/zookeeper_locks.hpp"

#include "store/zookeeper/permit_place.hpp"
#include "store/zookeeper/place.hpp"
#include "store/zookeeper/release.hpp"
#include "store/zookeeper/renewal.hpp"

#include <utility>
#include <vector>

namespace holdfast::zookeeper {

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

/// Returns the limits. One attempt may make the nodes above its own node, list the queue and set a
/// watch. It starts no new request after one command timeout. Each running request has its own
/// timeout.
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

asio::awaitable<void> zookeeper_locks::renew(hold_list holds, const renewal_wishes& how,
                                             renewal_sink& to) {
    return renew_holds(home_, holds, how.answer_by, to);
}

asio::awaitable<release_answer> zookeeper_locks::release(hold what) {
    return release_nodes(home_, std::move(what));
}

/// Watches only the first node of the hold. This is enough: a forced release deletes all nodes of
/// the hold. A permit that is given back by its id is the only node that can be deleted alone; the
/// next renewal notices that.
std::unique_ptr<watch> zookeeper_locks::watch_over(const hold& what, doubter& whom) {
    const std::vector<own_node>* const nodes = home_->held.find(what);
    if (!nodes || nodes->empty())
        return nullptr;
    return home_->own_watches.over(nodes->front(), whom);
}

} // namespace holdfast::zookeeper
