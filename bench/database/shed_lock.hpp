// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/database/session.hpp"

#include <string>

namespace holdfast::bench {

/// The statements of ShedLock's JDBC provider (`usingDbTime()`, MySQL), each by itself and
/// committed by itself, on a session of their own. Nothing renews, nobody is woken, and there is no
/// token.
class shed_lock {
public:
    /// `who`: as `locked_by`. There is a row of that name from then on, as after the first lock.
    shed_lock(const support::mariadb_server&, const std::string& name, const std::string& who);

    bool try_lock();
    void lock();   ///< it must be free
    void unlock(); ///< throws if it was not there to be released

private:
    session session_;
    const std::string attempt_, release_;
};

} // namespace holdfast::bench
