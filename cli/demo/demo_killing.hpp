// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <optional>
#include <string>

namespace cli {

class demo_screen;
class inheritance;

/// Shows how a waiter gets the lock after the holder was killed. Starts a process that takes the
/// lock with a short lease, waits for the lock, and kills the process. Returns the time from the
/// kill until this process got the lock. Returns nothing if this process got the lock before the
/// kill, which would be an error. Throws the errors of the store.
std::optional<holdfast::duration> wait_behind_killed_holder(demo_screen&, const std::string& url,
                                                            const std::string& lock,
                                                            const inheritance&);

} // namespace cli
