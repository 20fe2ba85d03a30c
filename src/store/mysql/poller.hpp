// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// Sees for all waiters of one client that no bell calls: one SELECT asks about all names at once,
/// every few milliseconds at first, and seldom where nothing happens for long.
class poller {
public:
    /// It must outlive it.
    explicit poller(site&);
    poller(const poller&) = delete;
    ~poller();

    /// While the result lives, `wake` rings when `condition` (of kinds.hpp, or another) is true.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake);

    /// Rings nobody any more.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

} // namespace holdfast::mysql
