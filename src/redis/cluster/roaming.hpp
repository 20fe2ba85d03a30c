// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slot.hpp"
#include "redis/node.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace holdfast::redis {

/// Subscription that follows its slot (`roaming`). When another server becomes the owner of the
/// slot, the subscription moves to that server.
class roaming final : public hearing {
public:
    roaming(channel_name, alarm& wake, linger);
    roaming(const roaming&) = delete;

    /// Waits until the server confirms the subscription; see hearing::confirmed(). If the
    /// subscription moves meanwhile, waits for the confirmation of the new server.
    asio::awaitable<bool> confirmed(time_point limit) override;

    /// Moves the subscription to `server`. `there` is the subscription at that server.
    void settle_at(std::weak_ptr<const void> server, std::unique_ptr<hearing> there);
    bool listens() const { return here_ != nullptr; }
    bool listens_at(const std::shared_ptr<const void>& server) const {
        return here_ && server && at_.lock() == server;
    }

    /// Returns whether the subscription may move now. If it may, lengthens the pause before the
    /// next move. Without pauses, two servers that redirect to each other would move the
    /// subscription without end.
    bool may_move(time_point now);

    const channel_name channel;
    alarm& wake;
    const linger afterwards;
    const std::uint16_t slot;

    using list_hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
    list_hook hook;

private:
    static constexpr duration pause_min{20};
    static constexpr duration pause_max{250};
    static constexpr duration calm = std::chrono::seconds{1};

    std::unique_ptr<hearing> here_; // null if the server of the slot is not known
    std::weak_ptr<const void> at_{};
    time_point not_before_ = time_point::min(); // earliest time of the next move
    duration pause_{};
    // Earlier subscriptions, kept until confirmed() stops waiting for them.
    std::vector<std::unique_ptr<hearing>> left_;
    bool is_awaited_ = false;
};

using roamers = boost::intrusive::list<
    roaming, boost::intrusive::member_hook<roaming, roaming::list_hook, &roaming::hook>,
    boost::intrusive::constant_time_size<false>>;

} // namespace holdfast::redis
