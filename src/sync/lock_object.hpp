// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <holdfast/basic_mutex.hpp>

namespace holdfast::sync {

/// What one object of a lock type knows. Calls that are under way share it.
class lock_object {
public:
    lock_object(std::shared_ptr<engine>, lock_name, duration lease, recursion, ending);

    const std::shared_ptr<engine> home;
    const lock_name name; ///< as the store sees it
    const duration lease;
    const recursion again;
    const ending how_released;

    /// A lease given is not renewed. Lengths were checked before.
    request request_for(duration patience, std::optional<duration> lease) const;
};

} // namespace holdfast::sync
