// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/engine.hpp"

#include <memory>

namespace holdfast::sync {

/// Returns true when the lock is seen free, false when patience is over. Takes nothing and is in
/// nobody's way. Throws as an acquisition does.
asio::awaitable<bool> wait_until_free(std::shared_ptr<engine>, lock_name, duration patience);

} // namespace holdfast::sync
