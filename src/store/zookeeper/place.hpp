// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/claim.hpp"
#include "store/zookeeper/order.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Watch of one node (`sentry`). It rings an alarm once when the node changes, and remembers the
/// change.
class sentry {
public:
    sentry(household& home, alarm& wake)
        : home_{home}
        , wake_{wake} {}

    /// Sets the watch. Returns false if the node does not exist.
    asio::awaitable<bool> watch_over(std::string path);
    void stop();

private:
    household& home_;
    alarm& wake_;
    std::string path_;
    std::shared_ptr<bool> rung_;
    std::unique_ptr<watch> watch_;
};

/// Waiter for one lock. It makes its own node in the queue, and watches the node before its own.
class lock_place final : public place {
public:
    /// `wake` must outlive the object.
    lock_place(std::shared_ptr<household>, ask, alarm& wake);
    ~lock_place() override;

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return granted_ || spot_.may_exist(); }
    bool uncertain() const noexcept override { return spot_.uncertain(); }
    /// Once another connection has taken over the session, requests on the old connection have no
    /// effect.
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    asio::awaitable<bool> is_taken();
    answer granted(time_point began);
    answer busy() const;
    const own_node* stood_on() const;
    /// Throws if the owner's other hold, from which the request upgrades or downgrades, is lost.
    /// `names` are the current children.
    void check_foundation(const std::vector<std::string>* names) const;
    std::string_view aside() const;

    const std::shared_ptr<household> home_;
    const std::shared_ptr<void> session_lives_ = home_->in_use();
    const ask want_;
    const std::string parent_;
    claim spot_;
    sentry before_;
    bool granted_ = false; ///< the node was added to `household::held`
    bool leaving_ = false;
};

} // namespace holdfast::zookeeper
