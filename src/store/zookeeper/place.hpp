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

/// Rings an alarm once when one node changes, and remembers that it did.
class sentry {
public:
    sentry(household& home, alarm& wake)
        : home_{home}
        , wake_{wake} {}

    /// False: that node is gone.
    asio::awaitable<bool> watch_over(std::string path);
    void stop();

private:
    household& home_;
    alarm& wake_;
    std::string path_;
    std::shared_ptr<bool> rung_;
    std::unique_ptr<watch> watch_;
};

/// One owner in the line for one lock: it makes its node, and watches the one before.
class lock_place final : public place {
public:
    /// `wake` must outlive it.
    lock_place(std::shared_ptr<household>, ask, alarm& wake);
    ~lock_place() override;

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return granted_ || spot_.may_exist(); }
    bool uncertain() const noexcept override { return spot_.uncertain(); }
    /// What was sent in a session is over as soon as another connection has it.
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    asio::awaitable<bool> is_taken();
    answer granted(time_point began);
    answer busy() const;
    const own_node* stood_on() const;
    /// Throws if the hold is gone that it stands on; `names`: those that are there now.
    void check_foundation(const std::vector<std::string>* names) const;
    std::string_view aside() const;

    const std::shared_ptr<household> home_;
    const std::shared_ptr<void> session_lives_ = home_->in_use();
    const ask want_;
    const std::string parent_;
    claim spot_;
    sentry before_;
    bool granted_ = false; ///< the node is among the holdings
    bool leaving_ = false;
};

} // namespace holdfast::zookeeper
