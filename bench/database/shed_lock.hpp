// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/database/session.hpp"

#include <string>

namespace holdfast::bench {

/// Statements of ShedLock's JDBC provider (`usingDbTime()`, MySQL), each in its own commit, on
/// their own session. It has no renewal, no notifications and no token.
class shed_lock {
public:
    /// Creates the row of this name, which otherwise the first lock would create. `who` is the
    /// value of `locked_by`.
    shed_lock(const support::mariadb_server&, const std::string& name, const std::string& who);

    bool try_lock();
    void lock();   ///< the lock must be free
    void unlock(); ///< throws if the lock was not held any more

private:
    session session_;
    const std::string attempt_, release_;
};

} // namespace holdfast::bench
