// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/database/session.hpp"

#include <string>

namespace holdfast::bench {

/// Statements of ShedLock's JDBC provider (`usingDbTime()`, MySQL). Each statement has its own
/// commit, and the object has its own session. ShedLock has no renewal, notifications or tokens.
class shed_lock {
public:
    /// Creates the row of the lock, so that the first lock() need not create it. `who` is the value
    /// of `locked_by`.
    shed_lock(const support::mariadb_server&, const std::string& name, const std::string& who);

    bool try_lock();
    void lock();   ///< the lock must be free
    void unlock(); ///< throws if the lock was not held any more

private:
    session session_;
    const std::string attempt_, release_;
};

} // namespace holdfast::bench
