// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/zookeeper_store.hpp"

#include "zookeeper/session.hpp"

#include <holdfast/zookeeper/options.hpp>

namespace holdfast::zookeeper {

asio::awaitable<std::vector<finding>> zookeeper_store::examine(ask trial) {
    const duration asked =
        session_wanted_ > duration::zero() ? session_wanted_ : home_->context.lease_time;
    return examine_ensemble(home_, std::move(trial), asked);
}

/// Closes the session if there are no holds. If there are holds, their holders may still rely on
/// the holds. So the session stays open until its timeout.
asio::awaitable<void> zookeeper_store::depart() {
    if (home_->held.empty())
        co_await home_->at->depart();
}

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<session> at = make_session(how, context);
        return std::make_unique<zookeeper_store>(std::move(at), std::move(context), how);
    };
}

} // namespace holdfast::zookeeper
