// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// `often`: every few milliseconds at first, and ten times a second in the end. `seldom`: for who
/// is called by a bell, and only looks whether it was told everything.
enum class pace { often, seldom };

/// Sees for all waiters of one client: one SELECT asks for all whose time has come.
class poller {
public:
    /// It must outlive it.
    explicit poller(site&);
    poller(const poller&) = delete;
    ~poller();

    /// While the result lives, `wake` rings when `condition` (of kinds.hpp, or another) is true.
    std::unique_ptr<watch> enrol(std::string condition, alarm& wake, pace = pace::often);

    /// Rings nobody any more.
    void stop() noexcept;

private:
    class list;
    class entry;
    std::shared_ptr<list> list_;
};

} // namespace holdfast::mysql
