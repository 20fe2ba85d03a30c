// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>
#include <holdfast/store.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace holdfast::sync {

class engine;
class tenure;
class wire_hold;

/// What one object of a lock type knows. Calls share it while they are under way, and copy no name.
class subject {
public:
    subject(std::shared_ptr<engine>, lock_name, duration lease, const detail::lock_setup&);

    const std::shared_ptr<engine> home;
    const lock_name name; ///< as the store sees it
    const lock_kind kind;
    const duration lease;
    const recursion again;
    const bool deferred; ///< its release is not waited for
    const std::optional<backoff> polls;
    const duration outlasts; ///< see ask
    const fencing numbers;
};

/// What a call wants, checked.
struct request {
    std::shared_ptr<const subject> of;
    duration lease;
    bool renewed;
    bool patient;          ///< false: one attempt
    time_point give_up_at; ///< not begun after that
    bool takes = true;     ///< false: it only waits until the lock is seen free
    /// It shall stand beside this one, under a number of its own: to read under a write hold, or
    /// to write on top of a read hold.
    std::shared_ptr<wire_hold> under{};
    std::weak_ptr<tenure> share{}; ///< the share of it that the caller has

    /// For so long the store keeps what it gives the call, a hold or a place, if nobody wants it.
    duration lasts_unwanted() const { return std::max(lease, of->outlasts); }
};

/// A lease given is not renewed. Lengths were checked before.
request request_for(std::shared_ptr<const subject>, duration patience,
                    std::optional<duration> lease);

} // namespace holdfast::sync
