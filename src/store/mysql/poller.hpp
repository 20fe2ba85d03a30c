// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// How often to poll for a waiter. `often`: every few milliseconds at first, ten times a second
/// later. `seldom`: a few times a second, for a waiter that a user lock will notify.
enum class pace { often, seldom };

/// Polls for all waiters of one client. One SELECT asks for all waiters that are due.
class poller {
public:
    /// The site must outlive the poller.
    explicit poller(site&);
    poller(const poller&) = delete;
    ~poller();

    /// Rings `wake` when `condition` (SQL, such as `verbs::may_be_had`) is true, while the result
    /// lives.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake, pace = pace::often);

    /// Stops polling; rings no alarm any more.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

} // namespace holdfast::mysql
