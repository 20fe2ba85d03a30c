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

/// A listener that outlives the ear it listens at: its channel may be told at another server.
class roaming final : public hearing {
public:
    roaming(channel_name, alarm& wake, linger);
    roaming(const roaming&) = delete;

    /// See `hearing`; wherever it listens by then.
    asio::awaitable<bool> confirmed(time_point limit) override;

    /// From now on it listens there.
    void settle_at(std::weak_ptr<const void> server, std::unique_ptr<hearing> there);
    bool listens() const { return here_ != nullptr; }
    bool listens_at(const std::shared_ptr<const void>& server) const {
        return here_ && server && at_.lock() == server;
    }

    /// Whether it may be sent elsewhere again: servers that send it to each other must not do so as
    /// fast as they can. If so, it takes longer until it may the next time.
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

    std::unique_ptr<hearing> here_; // null: nobody is known who tells it
    std::weak_ptr<const void> at_{};
    time_point not_before_ = time_point::min(); // it is sent elsewhere again
    duration pause_{};
    std::vector<std::unique_ptr<hearing>> left_; // while somebody waits for one of them
    bool is_awaited_ = false;
};

using roamers = boost::intrusive::list<
    roaming, boost::intrusive::member_hook<roaming, roaming::list_hook, &roaming::hook>,
    boost::intrusive::constant_time_size<false>>;

} // namespace holdfast::redis
