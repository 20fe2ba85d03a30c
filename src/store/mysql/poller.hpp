// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// How often to poll for a waiter. `often`: every few milliseconds at first, later ten times a
/// second. `seldom`: a few times a second, because a user lock will probably notify the waiter.
enum class pace { often, seldom };

/// Poller for all waiters of one client. One SELECT asks for all waiters that are due.
class poller {
public:
    /// The site must outlive the poller.
    explicit poller(site&);
    poller(const poller&) = delete;
    ~poller();

    /// Rings `wake` when `condition` becomes true. `condition` is SQL, for example from
    /// `verbs::may_be_had`. The polling ends when the returned object is destroyed.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake, pace = pace::often);

    /// Stops polling. Afterwards no alarm rings.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

} // namespace holdfast::mysql
