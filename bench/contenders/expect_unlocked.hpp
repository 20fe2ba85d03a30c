// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/mutex.hpp>

namespace holdfast::bench {

/// Releases the lock. Throws if the lock was not held any more.
inline void expect_unlocked(basic_mutex& held) {
    error_code failure;
    held.unlock(failure);
    if (failure)
        throw boost::system::system_error{failure, "unlock"};
}

} // namespace holdfast::bench
